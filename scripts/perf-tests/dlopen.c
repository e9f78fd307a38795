/* A program whose work is in a library that it loads when it runs. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*work)(void) = library ? (void (*)(void))dlsym(library, "plugin_work") : NULL;

	if (!work) {
		fprintf(stderr, "%s: %s\n", argv[0], argc > 1 ? dlerror() : "name a library");
		return 2;
	}
	work();
	return 0;
}
