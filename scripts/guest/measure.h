/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the guest's measuring programs share: an event as a line of a table, its ring,
 * and a clock that counts instructions.
 */
#ifndef GUEST_MEASURE_H
#define GUEST_MEASURE_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096UL

/* The bit of mmap3 in perf_event_attr; old headers have no name for it. */
#define ATTR_FLAGS_OFFSET 40
#define ATTR_MMAP3 (1ULL << 40)

#define N(a) (sizeof(a) / sizeof((a)[0]))

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(2);
}

static inline void *must(void *p, const char *what)
{
	if (p == MAP_FAILED)
		die(what);
	return p;
}

static inline void check(int rc, const char *what)
{
	if (rc)
		die(what);
}

struct config {
	const char *name;
	unsigned int mmap : 1, mmap2 : 1, build_id : 1, data : 1, comm : 1, task : 1;
	unsigned int id_all : 1, inherit : 1, mmap3 : 1;
	uint64_t sample_type;
};

/* One that counts nothing: it is there for its records alone. */
static inline int open_event(const struct config *c, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = c->sample_type,
		.mmap = c->mmap,
		.mmap2 = c->mmap2,
		.mmap_data = c->data,
		.build_id = c->build_id,
		.comm = c->comm,
		.comm_exec = c->comm,
		.task = c->task,
		.inherit = c->inherit,
		.sample_id_all = c->id_all,
		.exclude_kernel = 1,
	};

	if (c->mmap3) {
		uint64_t flags;

		memcpy(&flags, (char *)&attr + ATTR_FLAGS_OFFSET, sizeof(flags));
		flags |= ATTR_MMAP3;
		memcpy((char *)&attr + ATTR_FLAGS_OFFSET, &flags, sizeof(flags));
		attr.sample_id_all = 1;
		attr.sample_type |= PERF_SAMPLE_TID;
	}
	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static inline struct perf_event_mmap_page *map_ring(int fd, size_t pages)
{
	void *p = mmap(NULL, (1 + pages) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("mapping a ring");
	return p;
}

/* Under `-icount shift=0` the guest's clock counts instructions. */
#if defined(__x86_64__)
static inline uint64_t clock_ns(void)
{
	uint32_t lo, hi;

	/* under icount the time stamp counter runs at 1 GHz of virtual time */
	asm volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi) :: "memory");
	return (uint64_t)hi << 32 | lo;
}
#elif defined(__aarch64__)
static inline uint64_t clock_ns(void)
{
	uint64_t n, hz;

	asm volatile("isb; mrs %0, cntvct_el0" : "=r"(n) :: "memory");
	asm volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return (unsigned __int128)n * 1000000000 / hz;
}
#endif

#endif /* GUEST_MEASURE_H */
