/* What dlopen.c loads: half a second of work in a function with a name. */
#include <time.h>

void plugin_work(void);

__attribute__((noinline)) static void plugin_spin(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

void plugin_work(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 2;

	while (clock() < end)
		plugin_spin();
}
