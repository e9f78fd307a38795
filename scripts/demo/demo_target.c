// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that makes the mappings which the demo is about, and runs the code
 * in them. It tells mmap3_show what it made: lines "case address length" on the
 * descriptor whose number is in MMAP3_SHOW_FD.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#define RX	(PROT_READ | PROT_EXEC)
#define RW	(PROT_READ | PROT_WRITE)

static size_t page;
static int tell_fd = -1;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void tell(const char *what, const void *addr, size_t len)
{
	if (tell_fd >= 0)
		dprintf(tell_fd, "%s %lx %zx\n", what, (unsigned long)addr, len);
}

/* A function that returns @answer. */
static void put_code(void *at, unsigned short answer)
{
#if defined(__x86_64__)
	const unsigned char code[] = { 0xb8, answer & 0xff, answer >> 8, 0, 0, 0xc3 };
#elif defined(__aarch64__)
	const uint32_t code[] = { 0x52800000u | (uint32_t)answer << 5, 0xd65f03c0u };
#else
#error "what code does this arch have?"
#endif

	memcpy(at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
}

static void run_code(void *at, int answer)
{
	if (((int (*)(void))at)() != answer) {
		fprintf(stderr, "demo_target: the code at %p is not what was written\n", at);
		exit(1);
	}
}

static void *reserve(size_t len)
{
	void *p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("reserving an area");
	return p;
}

static void path_of_library(char *path)
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (len < 0)
		die("/proc/self/exe");
	path[len] = '\0';
	strcpy(strrchr(path, '/') + 1, "libdemo.so");
}

static void open_library(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	int (*answer)(int);

	if (!lib) {
		fprintf(stderr, "demo_target: %s\n", dlerror());
		exit(1);
	}
	answer = (int (*)(int))dlsym(lib, "demo_lib_answer");
	if (!answer || answer(1) != 2)
		exit(1);
	tell("dlopen", (void *)((uintptr_t)answer & ~(page - 1)), 1);
}

/* What a JIT does when its first piece is full: it makes another beside it. */
static void make_jit(void)
{
	const size_t len = 4 * page;
	char *area = reserve(4 * len) + len;
	int i;

	for (i = 0; i < 2; i++) {
		char *piece = area + i * len;

		if (mmap(piece, len, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != piece)
			die("mapping code");
		put_code(piece, 100 + i);
		if (mprotect(piece, len, RX))
			die("making code executable");
		run_code(piece, 100 + i);
		tell(i ? "jit-2nd" : "jit-1st", piece, len);
	}
}

static void map_file(const char *path)
{
	char *area = reserve(4 * page) + page;
	int i, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	for (i = 0; i < 2; i++) {
		char *piece = area + i * page;

		if (mmap(piece, page, RX, MAP_PRIVATE | MAP_FIXED, fd, i * page) != piece)
			die("mapping a piece of a file");
		tell(i ? "file-2nd" : "file-1st", piece, page);
	}
	close(fd);
}

/* Some compilers put code into memory that malloc() gave them. */
static void use_heap(void)
{
	char *heap = (char *)(((uintptr_t)sbrk(0) + page - 1) & ~(page - 1));
	int i;

	if (brk(heap + 4 * page))
		die("brk");
	for (i = 1; i < 3; i++) {
		put_code(heap + i * page, 200 + i);
		if (mprotect(heap + i * page, page, RX))
			die("making a page of the heap executable");
		run_code(heap + i * page, 200 + i);
		tell(i == 1 ? "heap-1st" : "heap-2nd", heap + i * page, page);
	}
}

int main(void)
{
	const char *fd = getenv("MMAP3_SHOW_FD");
	char path[PATH_MAX];

	if (fd)
		tell_fd = atoi(fd);
	page = sysconf(_SC_PAGESIZE);
	path_of_library(path);

	open_library(path);
	make_jit();
	map_file(path);
	use_heap();
	return 0;
}
