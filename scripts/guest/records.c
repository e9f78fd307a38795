// SPDX-License-Identifier: GPL-2.0
/*
 * Guest half of abi-examples.sh: makes a mapping for each form of PERF_RECORD_MMAP3
 * and prints what it asked for beside the bytes of the record:
 *
 *   CASE <name>
 *   WANT <field> <value>...	from the call's arguments, stat() and the file's contents
 *   REC <hex>
 *
 * Knows the layout nowhere, so that what is asked and what is written come by two ways.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE 4096UL
#define RING_PAGES 8
#define AT 0x7e0000000000UL

/* The bit of mmap3 in perf_event_attr; the C library's headers have no name for it. */
#define ATTR_FLAGS_OFFSET 40
#define ATTR_MMAP3 (1ULL << 40)
#define RECORD_MMAP3 23

static struct perf_event_mmap_page *ring;
static uint64_t seen;
static int event;

static void die(const char *what)
{
	fprintf(stderr, "records: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void open_event(int build_id, int data)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap_data = data,
		.build_id = build_id,
		.exclude_kernel = 1,
		.disabled = 1,
	};
	uint64_t flags;

	memcpy(&flags, (char *)&attr + ATTR_FLAGS_OFFSET, sizeof(flags));
	flags |= ATTR_MMAP3;
	memcpy((char *)&attr + ATTR_FLAGS_OFFSET, &flags, sizeof(flags));
	event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		die("opening an event");
	ring = mmap(NULL, (1 + RING_PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	if (ring == MAP_FAILED)
		die("mapping a ring");
	seen = 0;
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
}

/* Prints the one record that there is, and ends the event. */
static void close_event(void)
{
	const unsigned char *data = (unsigned char *)ring + PAGE;
	struct perf_event_header h;
	uint64_t head;

	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
	head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	memcpy(&h, data, sizeof(h));
	if (head != h.size || h.type != RECORD_MMAP3) {
		fprintf(stderr, "records: %llu bytes and type %u where one MMAP3 was to be\n",
			(unsigned long long)head, h.type);
		exit(1);
	}
	printf("REC ");
	for (size_t i = 0; i < h.size; i++)
		printf("%02x", data[i]);
	printf("\n");
	munmap(ring, (1 + RING_PAGES) * PAGE);
	close(event);
}

static void want(const char *field, uint64_t value)
{
	printf("WANT %s %#llx\n", field, (unsigned long long)value);
}

static void wants(uint64_t addr, uint64_t len, uint64_t pgoff, int prot, int flags,
		  const char *name)
{
	want("addr", addr);
	want("len", len);
	want("pgoff", pgoff);
	want("prot", prot);
	want("flags", flags);
	want("pid", getpid());
	want("tid", gettid());
	printf("WANT filename %s\n", name);
}

static void wants_inode(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		die("stat");
	want("maj", major(st.st_dev));
	want("min", minor(st.st_dev));
	want("ino", st.st_ino);
}

static void *map(uint64_t addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p = mmap((void *)addr, len, prot, flags | MAP_FIXED_NOREPLACE, fd, off);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

/* An ELF file of four pages whose build ID is the bytes 1, 2, 3...; none if size is 0. */
static int make_elf(const char *name, uint32_t size)
{
	static unsigned char bytes[4 * PAGE];
	Elf64_Ehdr *eh = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *ph = (Elf64_Phdr *)(eh + 1);
	Elf64_Nhdr *nh = (Elf64_Nhdr *)(ph + 1);
	unsigned char *id = (unsigned char *)(nh + 1) + 4;
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);

	memset(bytes, 0, sizeof(bytes));
	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = ELFDATA2LSB;
	eh->e_ident[EI_VERSION] = EV_CURRENT;
	eh->e_type = ET_DYN;
	eh->e_version = EV_CURRENT;
	eh->e_ehsize = sizeof(*eh);
	eh->e_phoff = sizeof(*eh);
	eh->e_phentsize = sizeof(*ph);
	eh->e_phnum = 1;
	ph->p_type = PT_NOTE;
	ph->p_offset = (unsigned char *)nh - bytes;
	ph->p_align = 4;
	if (size) {
		nh->n_namesz = 4;
		nh->n_descsz = size;
		nh->n_type = NT_GNU_BUILD_ID;
		memcpy(nh + 1, "GNU", 4);
		for (uint32_t i = 0; i < size; i++)
			id[i] = i + 1;
		ph->p_filesz = id + size - (unsigned char *)nh;
	}
	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		die(name);
	return fd;
}

static void wants_build_id(uint32_t size)
{
	want("build_id_size", size);
	printf("WANT build_id ");
	for (uint32_t i = 0; i < size; i++)
		printf("%02x", i + 1);
	printf("\n");
}

static void file_case(const char *name, uint32_t id_size, int build_id, int prot)
{
	char path[64];
	int fd;

	printf("CASE %s\n", name);
	snprintf(path, sizeof(path), "/tmp/%s.so", name);
	fd = make_elf(path, id_size);
	wants(AT, 2 * PAGE, PAGE, prot, MAP_PRIVATE, path);
	if (build_id && id_size)
		wants_build_id(id_size);
	else
		wants_inode(fd);
	open_event(build_id, !(prot & PROT_EXEC));
	map(AT, 2 * PAGE, prot, MAP_PRIVATE, fd, PAGE);
	close_event();
	munmap((void *)AT, 2 * PAGE);
	close(fd);
}

static void memory_case(void)
{
	const int prot = PROT_READ | PROT_EXEC, flags = MAP_PRIVATE | MAP_ANONYMOUS;

	printf("CASE memory\n");
	/* what the kernel will merge it with is not a part of it */
	map(AT, PAGE, prot, flags, -1, 0);
	/* where there is no file, the offset is the address */
	wants(AT + PAGE, PAGE, AT + PAGE, prot, MAP_PRIVATE, "//anon");
	open_event(1, 0);
	map(AT + PAGE, PAGE, prot, flags, -1, 0);
	close_event();

	printf("CASE not-executable-any-more\n");
	wants(AT, PAGE, AT, PROT_READ | PROT_WRITE, MAP_PRIVATE, "//anon");
	open_event(1, 0);
	if (mprotect((void *)AT, PAGE, PROT_READ | PROT_WRITE))
		die("mprotect");
	close_event();
	munmap((void *)AT, 2 * PAGE);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	file_case("inode", 0, 1, PROT_READ | PROT_EXEC);
	file_case("build-id", 20, 1, PROT_READ | PROT_EXEC);
	file_case("short-build-id", 8, 1, PROT_READ | PROT_EXEC);
	file_case("data", 20, 1, PROT_READ);
	memory_case();
	return 0;
}
