// SPDX-License-Identifier: GPL-2.0
/*
 * Guest half of `make bench`: what an event adds to the operations that it records.
 *
 *   bench all             every case, with every event
 *   bench base            what an unpatched kernel is compared by
 *   bench cpus            one worker on each processor
 *   bench profile CASE    one case, for scripts/qemu-plugin/count.c
 *
 * Prints, for each case and event:
 *   COUNT <case> <event> <n>...          instructions of each operation, round after round
 *   ROUNDS <case> <event> <ops> <n>...   operations in a round; how many operations of all
 *                                        cases came before each round
 *   BYTES <case> <event> <n>             what one operation writes into one ring
 * In a round all events of a case are measured one after the other, so that what changes
 * slowly changes for all of them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "measure.h"

enum { ROUNDS = 15, OPS_MAX = 32, EVENTS_MAX = 256, RING_PAGES = 2, MAP_SIZE = 4 * PAGE };

#define RX (PROT_READ | PROT_EXEC)
#define SAMPLE .id_all = 1, .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME

/* The first is what the others are compared with. */
static const struct config events[] = {
	{ .name = "none" },
	{ .name = "mmap2", .mmap = 1, .mmap2 = 1, SAMPLE },
	{ .name = "mmap2+build_id", .mmap = 1, .mmap2 = 1, .build_id = 1, SAMPLE },
	{ .name = "mmap3", .mmap3 = 1, SAMPLE },
	{ .name = "mmap3+build_id", .mmap3 = 1, .build_id = 1, SAMPLE },
};

static struct perf_event_mmap_page *rings[EVENTS_MAX];
static void *places[EVENTS_MAX];
static int event_fds[EVENTS_MAX];
static unsigned int measured;

/*
 * Instructions that do nothing but are seen by the QEMU plugin, which counts from START
 * to STOP and writes a line at FLUSH.
 */
#if defined(__x86_64__)
#define MARK(n) asm volatile("nopl 0x4d4d333" #n "(%%rax)" ::: "memory")
#elif defined(__aarch64__)
#define MARK(n) asm volatile("hint #11" #n ::: "memory")
#endif
#define MARK_START MARK(0)
#define MARK_STOP MARK(1)
#define MARK_FLUSH MARK(2)

/* --- what is measured --- */

/* One operation: prepare and undo are not measured, nor is batch, called before several. */
struct op {
	void (*batch)(unsigned int ops);
	void (*prepare)(void);
	void (*run)(unsigned int i);
	void (*undo)(void);
};

static int file = -1;
static int files[OPS_MAX];
static void *map;
static const char *small_file;

static void map_and_unmap(int flags, int fd)
{
	void *p = mmap(NULL, MAP_SIZE, RX, MAP_PRIVATE | flags, fd, 0);

	if (p == MAP_FAILED || munmap(p, MAP_SIZE))
		die("mmap");
}

static void run_file(unsigned int i)
{
	(void)i;
	map_and_unmap(0, file);
}

static void run_files(unsigned int i)
{
	map_and_unmap(0, files[i]);
}

static void run_anon(unsigned int i)
{
	(void)i;
	map_and_unmap(MAP_ANONYMOUS, -1);
}

static void copy(const char *from, const char *to)
{
	static char buf[1 << 16];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ssize_t n;

	if (in < 0 || out < 0)
		die(in < 0 ? from : to);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			die(to);
	if (n)
		die(from);
	close(in);
	close(out);
}

/* Files that nobody mapped before; their pages are in memory, as they were just written. */
static void batch_fresh(unsigned int ops)
{
	for (unsigned int i = 0; i < ops; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/tmp/fresh%u", i);
		if (files[i] > 0)
			close(files[i]);
		unlink(path);
		copy(small_file, path);
		files[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (files[i] < 0)
			die(path);
	}
}

static void batch_evicted(unsigned int ops)
{
	static bool there;

	for (unsigned int i = 0; i < ops; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/run/disk/file%u", i);
		if (!there) {
			copy(small_file, path);
			files[i] = open(path, O_RDONLY | O_CLOEXEC);
			if (files[i] < 0 || fsync(files[i]))
				die(path);
		}
		check(posix_fadvise(files[i], 0, 0, POSIX_FADV_DONTNEED), "eviction");
	}
	there = true;
}

static void prepare_mprotect(void)
{
	if (!map)
		map = must(mmap(NULL, MAP_SIZE, PROT_READ, MAP_PRIVATE, file, 0), "mmap");
}

static void run_mprotect(unsigned int i)
{
	(void)i;
	check(mprotect(map, MAP_SIZE, RX), "mprotect");
}

static void undo_mprotect(void)
{
	munmap(map, MAP_SIZE);
	map = NULL;
}

static void run_brk(unsigned int i)
{
	(void)i;
	if (sbrk(MAP_SIZE) == (void *)-1)
		die("brk");
}

static void undo_brk(void)
{
	sbrk(-(intptr_t)MAP_SIZE);
}

static void run_exec(unsigned int i)
{
	char *const argv[] = { (char *)small_file, NULL }, *const envp[] = { NULL };
	int status = -1;
	pid_t pid = fork();

	(void)i;
	if (!pid) {
		execve(small_file, argv, envp);
		_exit(99);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die(small_file);
}

static const struct op op_file = { .run = run_file };
static const struct op op_anon = { .run = run_anon };
static const struct op op_fresh = { .batch = batch_fresh, .run = run_files };
static const struct op op_evicted = { .batch = batch_evicted, .run = run_files };
static const struct op op_brk = { .run = run_brk, .undo = undo_brk };
static const struct op op_exec = { .run = run_exec };
static const struct op op_mprotect = {
	.prepare = prepare_mprotect, .run = run_mprotect, .undo = undo_mprotect,
};

/* Whose mappings the events record. */
enum whom { SELF, CHILDREN, OTHER, MACHINE };

struct bench_case {
	const char *name;
	const struct op *op;
	unsigned int ops;	/* in a round */
	unsigned int name_len;	/* of the file, a copy of libc */
	bool on_ext4;		/* it is there; else on tmpfs */
	unsigned int maps;	/* that the process has at least */
	unsigned int events;	/* how many listen; 0: one */
	enum whom whom;
	bool data;		/* what is not executable, too */
};

#define CASE(n, o, count, len, ...) \
	{ .name = n, .op = o, .ops = count, .name_len = len, ##__VA_ARGS__ }

static const struct bench_case cases[] = {
	/* a process of few maps, and one that has had no event of its own, first */
	CASE("exec", &op_exec, 3, 40, .whom = MACHINE),
	CASE("other-task", &op_file, 16, 40, .whom = OTHER),
	CASE("other-task-anon", &op_anon, 16, 40, .whom = OTHER),
	CASE("exec-inherit", &op_exec, 3, 40, .whom = CHILDREN),
	CASE("exec-data", &op_exec, 3, 40, .whom = MACHINE, .data = true),
	CASE("file-8", &op_file, 16, 8),
	CASE("file-40", &op_file, 16, 40),
	CASE("file-200", &op_file, 16, 200),
	CASE("ext4-40", &op_file, 16, 40, .on_ext4 = true),
	CASE("fresh", &op_fresh, 16, 40),
	CASE("evicted", &op_evicted, 16, 40),
	CASE("anon", &op_anon, 16, 40),
	CASE("mprotect", &op_mprotect, 16, 40),
	CASE("brk", &op_brk, 16, 40, .data = true),
	CASE("events-1", &op_file, 8, 40, .events = 1),
	CASE("events-4", &op_file, 8, 40, .events = 4),
	CASE("events-16", &op_file, 8, 40, .events = 16),
	CASE("events-64", &op_file, 4, 40, .events = 64),
	CASE("events-256", &op_file, 4, 40, .events = 256),
	/* these maps stay: last */
	CASE("maps-10", &op_file, 16, 40, .maps = 10),
	CASE("maps-100", &op_file, 16, 40, .maps = 100),
	CASE("maps-1000", &op_file, 16, 40, .maps = 1000),
	CASE("maps-10000", &op_file, 16, 40, .maps = 10000),
	CASE("maps-60000", &op_file, 16, 40, .maps = 60000),
};

/* What the unpatched kernel's MMAP2 is measured by. */
static const char *const base_cases[] = {
	"exec", "other-task", "file-8", "file-40", "file-200", "ext4-40", "anon",
};

/* The operations that are measured without any event. */
static const struct bench_case nobody[] = {
	CASE("nobody-file", &op_file, 16, 40),
	CASE("nobody-anon", &op_anon, 16, 40),
	CASE("nobody-mprotect", &op_mprotect, 16, 40),
	CASE("nobody-brk", &op_brk, 16, 40),
	CASE("nobody-exec", &op_exec, 24, 40),
};

static const char on_tmpfs[] = "/tmp/", on_ext4[] = "/run/disk/";
static pid_t other; /* a task that sleeps */

/* --- what a case needs --- */

/* Opens a copy of libc below @where, its path of @len characters, a / among each 16 of them. */
static void open_file_of_length(const char *where, unsigned int len)
{
	static const char *is_where;
	static unsigned int is;
	char path[PATH_MAX];
	glob_t found;

	if (is == len && is_where == where)
		return;
	memset(path, 'x', len);
	memcpy(path, where, strlen(where));
	path[len] = '\0';
	for (unsigned int i = 21; i + 8 < len; i += 16) {
		path[i] = '\0';
		mkdir(path, 0755);
		path[i] = '/';
	}
	if (glob("/lib/*-linux-gnu/libc.so.6", 0, NULL, &found))
		die("no libc in /lib");
	copy(found.gl_pathv[0], path);
	globfree(&found);
	if (file >= 0)
		close(file);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		die(path);
	is = len;
	is_where = where;
}

/* Splits an area until the process has @want more maps than it began with. */
static void have_maps(unsigned int want)
{
	static const size_t most = 60001;
	static unsigned int have;
	static char *area;

	if (want && !area)
		area = must(mmap(NULL, most * PAGE, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), "area");
	for (; have < want; have += 2)
		check(mprotect(area + (have + 1) * PAGE, PAGE, PROT_READ), "splitting the area");
}

static void have_other_task(void)
{
	if (other)
		return;
	other = fork();
	if (other < 0)
		die("fork");
	if (!other)
		for (;;)
			pause();
}

/* --- measuring --- */

static bool open_events(const struct bench_case *c, const struct config *event)
{
	unsigned int n = c->events ? c->events : 1;
	struct config config = *event;

	config.data = c->data;
	config.inherit = c->whom == CHILDREN;
	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = c->whom == MACHINE ? -1 : c->whom == OTHER ? other : 0;
		/* an inherited event can have a ring only on one processor */
		int cpu = c->whom == MACHINE || c->whom == CHILDREN ? 0 : -1;

		event_fds[i] = open_event(&config, pid, cpu);
		if (event_fds[i] < 0) {
			/* a kernel or provider that has no such event */
			if (!i && event->mmap3 && (errno == EINVAL || errno == EOPNOTSUPP))
				return false;
			die(event->name);
		}
		rings[i] = map_ring(event_fds[i], RING_PAGES);
	}
	return true;
}

/*
 * Without an event as many maps of the same size take the place of the rings: what mmap
 * costs depends on the maps around.
 */
static void open_none(const struct bench_case *c)
{
	const size_t size = (1 + RING_PAGES) * PAGE;

	for (unsigned int i = 0; i < (c->events ? c->events : 1); i++) {
		places[i] = must(mmap(NULL, size, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0), "place of a ring");
		/* as the kernel does with a ring */
		check(madvise(places[i], size, MADV_DONTFORK), "madvise");
	}
}

static void close_events(const struct bench_case *c)
{
	for (unsigned int i = 0; i < (c->events ? c->events : 1); i++) {
		munmap(rings[i] ? (void *)rings[i] : places[i], (1 + RING_PAGES) * PAGE);
		if (rings[i])
			close(event_fds[i]);
		rings[i] = NULL;
	}
}

/* Takes what is in the rings; returns how many bytes were in the first. */
static uint64_t drain(void)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < EVENTS_MAX && rings[i]; i++) {
		uint64_t head = __atomic_load_n(&rings[i]->data_head, __ATOMIC_ACQUIRE);

		if (!i)
			bytes = head - rings[i]->data_tail;
		__atomic_store_n(&rings[i]->data_tail, head, __ATOMIC_RELEASE);
	}
	return bytes;
}

struct result {
	uint64_t values[ROUNDS][OPS_MAX];
	unsigned int before[ROUNDS];
	uint64_t bytes;
	bool unsupported;
};

static void one_round(const struct bench_case *c, struct result *result, unsigned int round)
{
	const struct op *op = c->op;
	uint64_t bytes = 0;

	result->before[round] = measured;
	if (op->batch)
		op->batch(c->ops);
	/* The first one fills caches; it may only where a batch can be used twice. */
	for (int i = op->batch ? 0 : -1; i < (int)c->ops; i++) {
		uint64_t start, end;

		if (op->prepare)
			op->prepare();
		drain();
		if (i >= 0)
			MARK_START;
		start = clock_ns();
		op->run(i < 0 ? 0 : i);
		end = clock_ns();
		MARK_STOP;
		bytes = drain();
		if (op->undo)
			op->undo();
		if (i < 0)
			continue;
		MARK_FLUSH;
		result->values[round][i] = end - start;
		measured++;
	}
	result->bytes = bytes;
}

static void print_result(const char *name, unsigned int ops, const char *event,
			 const struct result *result)
{
	printf("COUNT %s %s", name, event);
	if (result->unsupported) {
		printf(" unsupported\n");
		return;
	}
	for (unsigned int r = 0; r < ROUNDS; r++)
		for (unsigned int i = 0; i < ops; i++)
			printf(" %llu", (unsigned long long)result->values[r][i]);
	printf("\nROUNDS %s %s %u", name, event, ops);
	for (unsigned int r = 0; r < ROUNDS; r++)
		printf(" %u", result->before[r]);
	printf("\nBYTES %s %s %llu\n", name, event, (unsigned long long)result->bytes);
}

static void prepare_case(const struct bench_case *c)
{
	open_file_of_length(c->on_ext4 ? on_ext4 : on_tmpfs, c->name_len);
	have_maps(c->maps);
	if (c->whom == OTHER)
		have_other_task();
}

static void measure_case(const struct bench_case *c)
{
	static struct result results[N(events)];

	prepare_case(c);
	memset(results, 0, sizeof(results));
	for (unsigned int r = 0; r < ROUNDS; r++) {
		for (unsigned int e = 0; e < N(events); e++) {
			if (results[e].unsupported)
				continue;
			if (!e)
				open_none(c);
			else if (!open_events(c, &events[e]))
				results[e].unsupported = true;
			if (results[e].unsupported)
				continue;
			one_round(c, &results[e], r);
			close_events(c);
		}
	}
	for (unsigned int e = 0; e < N(events); e++)
		print_result(c->name, c->ops, events[e].name, &results[e]);
	fflush(stdout);
}

static bool provider_is_loaded(void)
{
	return !access("/sys/module/perf_mmap3", F_OK);
}

static void measure_nobody(struct result *results)
{
	memset(results, 0, N(nobody) * sizeof(*results));
	for (unsigned int r = 0; r < ROUNDS; r++) {
		for (unsigned int i = 0; i < N(nobody); i++) {
			prepare_case(&nobody[i]);
			one_round(&nobody[i], &results[i], r);
		}
	}
}

static void print_nobody(const char *provider, const struct result *results)
{
	for (unsigned int i = 0; i < N(nobody); i++)
		print_result(nobody[i].name, nobody[i].ops, provider, &results[i]);
}

/*
 * Before any event, and again if one has brought the provider; without one likewise, for
 * what is measured later in a guest's life is compared with what was as late.
 */
static void measure_all_nobody(void)
{
	static struct result results[N(nobody)];
	bool present = provider_is_loaded();
	int fd;

	measure_nobody(results);
	/* not of a task: this one would keep a context of events, a child make brk() dearer */
	fd = open_event(&events[3], -1, 0);
	if (fd >= 0)
		close(fd);
	/* one that is there without a module is built in */
	present |= fd >= 0 && !provider_is_loaded();
	print_nobody(present ? "present" : "absent", results);
	if (present)
		return;
	measure_nobody(results);
	print_nobody(fd < 0 ? "again" : "present", results);
}

static const struct bench_case *case_of(const char *name)
{
	for (size_t i = 0; i < N(cases); i++)
		if (!strcmp(cases[i].name, name))
			return &cases[i];
	fprintf(stderr, "bench: no case '%s'\n", name);
	exit(2);
}

/* --- several processors --- */

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

enum { CPU_OPS = 256 };

/* One worker: its own file and event; says that it is ready, waits, works. */
static void worker(int cpu, const struct config *event, int ready, int go)
{
	static const struct bench_case c = { .name = "worker" };
	char path[32], byte = 0;

	pin(cpu);
	snprintf(path, sizeof(path), "/tmp/worker%d", cpu);
	copy(small_file, path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		die(path);
	if (event->id_all && !open_events(&c, event))
		_exit(3);
	run_file(0);
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
		_exit(2);
	for (int i = 0; i < CPU_OPS; i++) {
		run_file(0);
		drain();
	}
	_exit(0);
}

/* Returns instructions of one operation, of all processors together; 0: no such event. */
static uint64_t measure_workers(int cpus, const struct config *event)
{
	int ready[2], go[2], worst = 0;
	uint64_t start;
	char bytes[64] = "";

	check(pipe2(ready, O_CLOEXEC) || pipe2(go, O_CLOEXEC), "pipe");
	for (int cpu = 0; cpu < cpus; cpu++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			worker(cpu, event, ready[1], go[0]);
	}
	close(ready[1]);
	for (int cpu = 0; cpu < cpus; cpu++)
		if (read(ready[0], bytes, 1) != 1)
			worst = 3;
	start = clock_ns();
	if (write(go[1], bytes, cpus) != cpus)
		die("pipe");
	for (int cpu = 0; cpu < cpus; cpu++) {
		int status;

		if (wait(&status) < 0)
			die("wait");
		if (status)
			worst = status;
	}
	start = clock_ns() - start;
	close(ready[0]);
	close(go[0]);
	close(go[1]);
	if (worst && !event->mmap3)
		die("a worker failed");
	return worst ? 0 : start / ((uint64_t)cpus * CPU_OPS);
}

static void measure_cpus(void)
{
	static struct result results[N(events)];
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	char name[16];

	snprintf(name, sizeof(name), "cpus-%d", cpus);
	for (unsigned int r = 0; r < ROUNDS; r++) {
		for (unsigned int e = 0; e < N(events); e++) {
			results[e].values[r][0] = measure_workers(cpus, &events[e]);
			results[e].unsupported = !results[e].values[r][0];
			results[e].before[r] = measured++;
		}
	}
	for (unsigned int e = 0; e < N(events); e++)
		print_result(name, 1, events[e].name, &results[e]);
}

/* Where the functions of the provider are, as a module that is loaded anywhere. */
static void print_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[256], module[64];
	unsigned long long address;

	if (!f)
		die("/proc/kallsyms");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s [%63[^]]]", &address, name, module) == 3 &&
		    !strcmp(module, "perf_mmap3"))
			printf("SYMBOL %llx %s [%s]\n", address, name, module);
	fclose(f);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	small_file = "/guest/hello_dyn";
	if (!strcmp(what, "cpus")) {
		measure_cpus();
	} else if (!strcmp(what, "profile") && argc == 3) {
		measure_case(case_of(argv[2]));
		print_symbols();
	} else if (!strcmp(what, "base")) {
		measure_all_nobody();
		for (size_t i = 0; i < N(base_cases); i++)
			measure_case(case_of(base_cases[i]));
	} else if (!strcmp(what, "all")) {
		measure_all_nobody();
		for (size_t i = 0; i < N(cases); i++)
			measure_case(&cases[i]);
	} else {
		fprintf(stderr, "usage: bench all|base|cpus|profile CASE\n");
		return 2;
	}
	if (other)
		kill(other, SIGKILL);
	return 0;
}
