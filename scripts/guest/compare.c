// SPDX-License-Identifier: GPL-2.0
/*
 * Guest half of `make compare`: what kernels with and without MMAP3 must agree on.
 *
 *   compare stream   a fixed program recorded by events that do not ask for MMAP3;
 *                    prints `EVENT <event> <sample_type of the trailer>` and each
 *                    record as `REC <event> <hex>`
 *   compare count    what mmap + munmap costs; prints `COUNT <map> <event> <n>...`,
 *                    the instructions of one pair, a number for each round
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "measure.h"

#define RING_PAGES 64

#define SIDE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU)

static const char *self;

static const struct config streams[] = {
	{ .name = "mmap", .mmap = 1 },
	{ .name = "mmap+id", .mmap = 1, .id_all = 1, .sample_type = SIDE },
	{ .name = "mmap+data", .mmap = 1, .data = 1, .id_all = 1, .sample_type = SIDE },
	{ .name = "mmap2", .mmap = 1, .mmap2 = 1 },
	{ .name = "mmap2+id", .mmap = 1, .mmap2 = 1, .id_all = 1, .sample_type = SIDE },
	{ .name = "mmap2+data", .mmap = 1, .mmap2 = 1, .data = 1, .id_all = 1,
	  .sample_type = PERF_SAMPLE_TID },
	{ .name = "mmap2+build_id", .mmap = 1, .mmap2 = 1, .build_id = 1, .id_all = 1,
	  .sample_type = SIDE | PERF_SAMPLE_IDENTIFIER },
	{ .name = "mmap2+build_id+data", .mmap = 1, .mmap2 = 1, .build_id = 1, .data = 1,
	  .id_all = 1, .inherit = 1, .sample_type = SIDE },
	{ .name = "comm", .comm = 1, .id_all = 1, .sample_type = SIDE },
	{ .name = "task", .task = 1, .id_all = 1, .inherit = 1, .sample_type = SIDE },
	{ .name = "all", .mmap = 1, .mmap2 = 1, .data = 1, .comm = 1, .task = 1, .id_all = 1,
	  .inherit = 1, .sample_type = SIDE },
	{ .name = "none", .id_all = 1, .sample_type = SIDE },
};

static const struct config counts[] = {
	{ .name = "none" },
	{ .name = "mmap2", .mmap = 1, .mmap2 = 1 },
	{ .name = "mmap2+build_id", .mmap = 1, .mmap2 = 1, .build_id = 1 },
	{ .name = "mmap3", .mmap3 = 1 },
	{ .name = "mmap3+build_id", .mmap3 = 1, .build_id = 1 },
	/* the events above loaded the provider, where there is one */
	{ .name = "none+provider" },
};

static void dump_ring(const char *name, struct perf_event_mmap_page *ring)
{
	const unsigned char *data = (unsigned char *)ring + PAGE;
	uint64_t at = 0, head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);

	while (at < head) {
		struct perf_event_header h;

		for (size_t i = 0; i < sizeof(h); i++)
			((unsigned char *)&h)[i] = data[(at + i) % (RING_PAGES * PAGE)];
		printf("REC %s ", name);
		for (size_t i = 0; i < h.size; i++)
			printf("%02x", data[(at + i) % (RING_PAGES * PAGE)]);
		printf("\n");
		if (!h.size)
			break;
		at += h.size;
	}
	/* An empty ring says so, or a missing one would look like it. */
	printf("END %s\n", name);
}

/* --- the fixed program --- */

static void *thread(void *arg)
{
	char *p = must(mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0), "thread map");

	prctl(PR_SET_NAME, "thread");
	munmap(p, 2 * PAGE);
	return arg;
}

static int grow_stack(int depth)
{
	volatile char page[PAGE];

	page[0] = depth;
	return depth ? grow_stack(depth - 1) + page[0] : 0;
}

static void maps_of_files(void)
{
	int fd = open(self, O_RDONLY);
	char *p, *q;

	if (fd < 0)
		die(self);
	p = must(mmap(NULL, 8 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0), "file r");
	q = must(mmap(NULL, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, PAGE), "file rx");
	/* two adjacent pieces, in file order: merged into one VMA */
	must(mmap(p, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0), "piece 1");
	must(mmap(p + 2 * PAGE, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
		  2 * PAGE), "piece 2");
	check(mprotect(p + 4 * PAGE, PAGE, PROT_READ | PROT_EXEC), "file +x");
	check(mprotect(p, PAGE, PROT_READ), "file -x");
	must(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0), "file shared");
	q = must(mremap(q, 4 * PAGE, 6 * PAGE, MREMAP_MAYMOVE), "file mremap");
	munmap(q, 6 * PAGE);
	munmap(p, 8 * PAGE);
	close(fd);
}

static void maps_without_files(void)
{
	char *p = must(mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0), "anon");
	char *heap = sbrk(4 * PAGE);
	char *q;

	/* as a JIT does: page after page */
	for (int i = 0; i < 8; i++)
		check(mprotect(p + i * PAGE, PAGE, PROT_READ | PROT_EXEC), "jit page");
	check(mprotect(p + 2 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE), "jit -x");
	q = must(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "rx");
	q = must(mremap(q, PAGE, 3 * PAGE, MREMAP_MAYMOVE), "anon mremap");
	must(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), "shared");
	heap = (char *)(((uintptr_t)heap + PAGE - 1) & ~(PAGE - 1));
	check(mprotect(heap, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), "heap +x");
	if (sbrk(8 * PAGE) == (void *)-1)
		die("brk");
	grow_stack(40);
	munmap(q, 3 * PAGE);
}

static void work(void)
{
	pthread_t t;
	pid_t pid;

	maps_of_files();
	maps_without_files();
	check(pthread_create(&t, NULL, thread, NULL), "thread");
	pthread_join(t, NULL);
	prctl(PR_SET_NAME, "renamed");
	pid = fork();
	if (!pid) {
		maps_without_files();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		die("fork");
}

static int stream(void)
{
	struct perf_event_mmap_page *rings[N(streams)];
	int go[2], status = 0;
	pid_t pid;

	check(pipe2(go, O_CLOEXEC), "pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		char c;

		if (read(go[0], &c, 1) != 1)
			_exit(2);
		work();
		execl(self, self, "work", NULL);
		_exit(2);
	}
	for (size_t i = 0; i < N(streams); i++) {
		int fd = open_event(&streams[i], pid, 0);

		if (fd < 0)
			die(streams[i].name);
		rings[i] = map_ring(fd, RING_PAGES);
	}
	if (write(go[1], "g", 1) != 1 || waitpid(pid, &status, 0) != pid)
		die("child");
	if (status) {
		fprintf(stderr, "compare: the recorded program ended with %#x\n", status);
		return 1;
	}
	for (size_t i = 0; i < N(streams); i++) {
		/* what each record ends with */
		printf("EVENT %s %llx\n", streams[i].name,
		       streams[i].id_all ? (unsigned long long)streams[i].sample_type : 0);
		dump_ring(streams[i].name, rings[i]);
	}
	return 0;
}

/* --- counts --- */

/* A round holds several timer ticks, so that none weighs more than another. */
enum { ROUNDS = 31, PAIRS = 512 };

static void count_one(const char *map, int fd, const struct config *c)
{
	struct perf_event_mmap_page *ring = NULL;
	int flags = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);
	int event = -1;

	if (c->mmap || c->mmap3) {
		event = open_event(c, 0, 0);
		if (event < 0) {
			printf("COUNT %s %s unsupported %s\n", map, c->name, strerror(errno));
			return;
		}
		ring = map_ring(event, RING_PAGES);
	}
	printf("COUNT %s %s", map, c->name);
	for (int r = 0; r < ROUNDS; r++) {
		uint64_t start = clock_ns();

		for (int i = 0; i < PAIRS; i++) {
			void *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_EXEC, flags, fd, 0);

			if (p == MAP_FAILED || munmap(p, 4 * PAGE))
				die("mmap");
			if (ring)
				ring->data_tail = ring->data_head;
		}
		printf(" %llu", (unsigned long long)(clock_ns() - start) / PAIRS);
	}
	printf("\n");
	if (ring) {
		munmap(ring, (1 + RING_PAGES) * PAGE);
		close(event);
	}
}

static int count(void)
{
	int fd = open(self, O_RDONLY);

	if (fd < 0)
		die(self);
	for (size_t i = 0; i < N(counts); i++) {
		count_one("file", fd, &counts[i]);
		count_one("anon", -1, &counts[i]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	self = argv[0];
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (argc == 2 && !strcmp(argv[1], "work")) {
		work();
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "stream"))
		return stream();
	if (argc == 2 && !strcmp(argv[1], "count"))
		return count();
	fprintf(stderr, "usage: compare stream|count\n");
	return 2;
}
