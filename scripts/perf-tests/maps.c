/*
 * A program for perf to attach to: it has mappings, waits for a line on its standard
 * input, makes one more mapping and waits again. Says what it mapped.
 *
 *   maps COUNT THREADS    COUNT executable pages of anonymous memory, each a mapping of
 *                         its own; THREADS more threads that only wait
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* One page, with a gap behind it so that it is not merged with the next. */
static void map_page(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || mprotect(area, page, PROT_READ | PROT_EXEC)) {
		perror("maps: mmap");
		exit(2);
	}
	printf("%p\n", (void *)area);
}

static void *wait_forever(void *unused)
{
	(void)unused;
	pause();
	return NULL;
}

/* Until the next line, or the end of the input. */
static void wait_for_line(void)
{
	int c;

	printf("ready\n");
	fflush(stdout);
	do {
		c = getchar();
	} while (c != '\n' && c != EOF);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	int threads = argc > 2 ? atoi(argv[2]) : 0;

	if (count < 1) {
		fprintf(stderr, "usage: maps COUNT THREADS\n");
		return 2;
	}
	for (int i = 0; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, wait_forever, NULL)) {
			perror("maps: pthread_create");
			return 2;
		}
	}
	for (int i = 0; i < count; i++)
		map_page();
	wait_for_line();
	map_page();
	wait_for_line();
	return 0;
}
