// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap3_show PROG ARGS...: run a program and show how the kernel recorded its
 * mappings: for each one MMAP2's answer beside MMAP3's.
 *
 * Behind the table come lines for programs:
 *   ID <build ID> <path>	each build ID that a record carried
 *   CASE <name>		each kind of mapping that was seen
 *   MISSING <name>		one that PROG made and no record told of
 */
#include <fcntl.h>
#include <stdint.h>

#include <sys/wait.h>

#include "mmap3_reader.h"

#define MAX_RECS	4096
#define MAX_TOLD	64
#define RING_PAGES	64
#define CASE_LEN	16

/* What PROG said it made. */
struct told {
	char		name[CASE_LEN];
	unsigned long	addr, len;
};

struct recs {
	struct mmap3_reader	reader;
	__u64			lost;
	int			nr;
	struct mmap3_rec	rec[MAX_RECS];
	bool			used[MAX_RECS];
};

static struct recs mmap2, mmap3;
static struct told told[MAX_TOLD];
static int nr_told;
static char seen[32][CASE_LEN];
static int nr_seen;

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "mmap3_show: %s: %s\n", what, why);
	return 2;
}

static int open_events(pid_t pid)
{
	struct perf_event_attr attr = mmap3_attr();
	int err;

	attr.inherit = 1;
	attr.enable_on_exec = 1;
	attr.build_id = 1;
	attr.mmap3 = 1;
	err = mmap3_open_cpus(&mmap3.reader, &attr, pid, RING_PAGES);
	if (err == -EINVAL)
		return fail("opening an event", "this kernel knows no PERF_RECORD_MMAP3");
	if (err == -EOPNOTSUPP)
		return fail("opening an event", "no provider; load the module perf_mmap3");
	if (err)
		return fail("opening an event", strerror(-err));

	attr.mmap3 = 0;
	attr.mmap = 1;
	attr.mmap2 = 1;
	err = mmap3_open_cpus(&mmap2.reader, &attr, pid, RING_PAGES);
	return err ? fail("opening an event for MMAP2", strerror(-err)) : 0;
}

static int drain(struct recs *r, __u32 type)
{
	while (r->nr < MAX_RECS && mmap3_next(&r->reader, &r->rec[r->nr])) {
		struct mmap3_rec *rec = &r->rec[r->nr];

		if (rec->error)
			return fail("a record is not as it should be", rec->error);
		if (rec->type == PERF_RECORD_LOST)
			r->lost += rec->lost;
		else if (rec->type == type)
			r->nr++;
	}
	if (r->nr == MAX_RECS)
		return fail("too many mappings", "only the first 4096 are shown");
	if (r->lost)
		return fail("records were lost", "the ring buffers are too small");
	return 0;
}

static void read_told(int fd)
{
	FILE *f = fdopen(fd, "r");

	while (nr_told < MAX_TOLD &&
	       fscanf(f, "%15s %lx %lx", told[nr_told].name, &told[nr_told].addr,
		      &told[nr_told].len) == 3)
		nr_told++;
	fclose(f);
}

static bool ends_with(const char *s, const char *end)
{
	size_t a = strlen(s), b = strlen(end);

	return a >= b && !strcmp(s + a - b, end);
}

/* What kind of mapping it is: what PROG said, else what its name says. */
static const char *case_of(const struct mmap3_rec *rec, const char *prog)
{
	const char *base = strrchr(rec->name, '/');
	int i;

	/* told because it was executable before */
	if (!(rec->prot & PROT_EXEC))
		return "not-exec";
	for (i = 0; i < nr_told; i++) {
		/* of a library PROG knows one address */
		if (told[i].len == 1 ? told[i].addr - rec->addr < rec->len :
		    told[i].addr == rec->addr && told[i].len == rec->len)
			return told[i].name;
	}
	if (!strcmp(rec->name, "[vdso]"))
		return "vdso";
	if (!strcmp(rec->name, "[heap]"))
		return "heap";
	if (rec->misc & PERF_RECORD_MISC_MMAP3_NO_FILE)
		return "anon";
	if (ends_with(rec->name, prog))
		return "program";
	if (base && !strncmp(base, "/ld-", 4))
		return "loader";
	if (base && strstr(base, ".so"))
		return "library";
	return "file";
}

static void note_case(const char *name)
{
	int i;

	for (i = 0; i < nr_seen; i++)
		if (!strcmp(seen[i], name))
			return;
	if (nr_seen < (int)(sizeof(seen) / sizeof(seen[0])))
		snprintf(seen[nr_seen++], CASE_LEN, "%s", name);
}

/* MMAP2's record of the same event: MMAP3's comes right before it. */
static const struct mmap3_rec *find_mmap2(int nr)
{
	const struct mmap3_rec *rec = &mmap3.rec[nr], *next = NULL;
	int i;

	for (i = nr + 1; i < mmap3.nr && !next; i++)
		if (mmap3.rec[i].tid == rec->tid)
			next = &mmap3.rec[i];

	for (i = 0; i < mmap2.nr; i++) {
		const struct mmap3_rec *other = &mmap2.rec[i];

		if (mmap2.used[i] || other->tid != rec->tid || other->time < rec->time)
			continue;
		if (next && other->time > next->time)
			break;
		if (other->addr <= rec->addr && other->addr + other->len >= rec->addr + rec->len &&
		    !strcmp(other->name, rec->name)) {
			mmap2.used[i] = true;
			return other;
		}
	}
	return NULL;
}

static void print_half(const struct mmap3_rec *rec)
{
	char hex[2 * MMAP3_BUILD_ID_MAX + 1], id[32] = "-", range[40], pgoff[20];

	if (!rec) {
		printf("%-20s %-8s %-13s %5s", "nothing", "-", "-", "-");
		return;
	}
	snprintf(range, sizeof(range), "%llx+%llx", rec->addr, rec->len);
	/* without a file the offset is the address, or 0 */
	snprintf(pgoff, sizeof(pgoff), rec->pgoff >> 32 ? "(addr)" : "%llx", rec->pgoff);
	if (rec->has_build_id) {
		mmap3_build_id_hex(rec, hex);
		snprintf(id, sizeof(id), strlen(hex) > 12 ? "%.11s~" : "%.12s", hex);
	} else if (rec->has_inode) {
		snprintf(id, sizeof(id), "%x:%x:%llu", rec->maj, rec->min, rec->ino);
	}
	printf("%-20s %-8s %-13s %5u", range, pgoff, id, rec->size);
}

static void print_name(const struct mmap3_rec *rec)
{
	printf(" | %c%c%c  %s\n", rec->prot & PROT_READ ? 'r' : '-',
	       rec->prot & PROT_WRITE ? 'w' : '-', rec->prot & PROT_EXEC ? 'x' : '-', rec->name);
}

static void print_table(const char *prog)
{
	const struct mmap3_rec *rec;
	const char *name;
	int i;

	printf("%-9s| %-49s | %-49s |\n", "", "MMAP2", "MMAP3");
	printf("%-9s| %-20s %-8s %-13s %5s | %-20s %-8s %-13s %5s | prot %s\n", "case",
	       "address+length", "offset", "identity", "bytes",
	       "address+length", "offset", "identity", "bytes", "name");
	for (i = 0; i < mmap3.nr; i++) {
		rec = &mmap3.rec[i];
		name = case_of(rec, prog);
		note_case(name);
		printf("%-9s| ", name);
		print_half(find_mmap2(i));
		printf(" | ");
		print_half(rec);
		print_name(rec);
	}
	for (i = 0; i < mmap2.nr; i++) {
		if (mmap2.used[i])
			continue;
		printf("%-9s| ", "");
		print_half(&mmap2.rec[i]);
		printf(" | ");
		print_half(NULL);
		print_name(&mmap2.rec[i]);
	}
}

/* Each pair of ID and path once, whichever record it came from. */
static void print_ids(void)
{
	struct recs *both[] = { &mmap3, &mmap2 };
	char hex[2 * MMAP3_BUILD_ID_MAX + 1], old[2 * MMAP3_BUILD_ID_MAX + 1];
	int b, i, c, j;

	for (b = 0; b < 2; b++) {
		for (i = 0; i < both[b]->nr; i++) {
			const struct mmap3_rec *rec = &both[b]->rec[i];
			bool known = !rec->has_build_id;

			mmap3_build_id_hex(rec, hex);
			for (c = 0; c <= b; c++)
				for (j = 0; j < (c < b ? both[c]->nr : i) && !known; j++)
					known = both[c]->rec[j].has_build_id &&
						!strcmp(both[c]->rec[j].name, rec->name) &&
						!strcmp(mmap3_build_id_hex(&both[c]->rec[j], old),
							hex);
			if (!known)
				printf("ID %s %s\n", hex, rec->name);
		}
	}
}

static int print_cases(void)
{
	int i, j, missing = 0;

	for (i = 0; i < nr_seen; i++)
		printf("CASE %s\n", seen[i]);
	for (i = 0; i < nr_told; i++) {
		for (j = 0; j < nr_seen && strcmp(seen[j], told[i].name);)
			j++;
		if (j == nr_seen) {
			printf("MISSING %s\n", told[i].name);
			missing++;
		}
	}
	return missing;
}

static void run(char **argv, int go, int tell)
{
	char fd[12], c;

	snprintf(fd, sizeof(fd), "%d", tell);
	setenv("MMAP3_SHOW_FD", fd, 1);
	if (read(go, &c, 1) != 1)
		_exit(127);
	execvp(argv[0], argv);
	fprintf(stderr, "mmap3_show: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int main(int argc, char **argv)
{
	const char *prog;
	int go[2], tell[2], status, err;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: mmap3_show PROG ARGS...\n");
		return 2;
	}
	if (pipe2(go, O_CLOEXEC) || pipe(tell))
		return fail("pipe", strerror(errno));
	pid = fork();
	if (pid < 0)
		return fail("fork", strerror(errno));
	if (!pid) {
		close(go[1]);
		close(tell[0]);
		run(argv + 1, go[0], tell[1]);
	}
	close(tell[1]);

	err = open_events(pid);
	if (err)
		return err;	/* the child sees that `go` is closed */
	if (write(go[1], "x", 1) != 1)
		return fail("starting the program", strerror(errno));
	read_told(tell[0]);
	if (waitpid(pid, &status, 0) != pid)
		return fail("waiting for the program", strerror(errno));

	err = drain(&mmap3, PERF_RECORD_MMAP3);
	if (!err)
		err = drain(&mmap2, PERF_RECORD_MMAP2);
	if (err)
		return err;

	prog = strrchr(argv[1], '/');
	print_table(prog ?: argv[1]);
	print_ids();
	err = print_cases();
	if (status) {
		fprintf(stderr, "mmap3_show: %s failed (status 0x%x)\n", argv[1], status);
		return 1;
	}
	return err ? 1 : 0;
}
