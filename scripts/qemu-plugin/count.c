// SPDX-License-Identifier: GPL-2.0
/*
 * TCG plugin of `make bench`: what the guest's clock cannot tell.
 *
 *   -plugin count.so,out=FILE[,profile=on]
 *
 * Counts while the guest is between the instructions START and STOP of
 * scripts/guest/bench.c, and at FLUSH writes a line:
 *
 *   FLUSH <n> <instructions> <iterations>
 *
 * n counts from 0. iterations: those of `rep` string instructions on x86, beyond the
 * first of each; the guest's clock counts every one as an instruction. With profile=on
 * lines before it tell how often each block ran:
 *
 *   BLOCK <address> <instructions in it> <times>
 *
 * For guests whose processors run on one thread (-icount, or thread=single).
 *
 * QEMU ships its plugin header in no package of Debian, so what is used of API version 4
 * (QEMU 9.2 to 10.x) is declared here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct info {
	const char *target;
	/* the rest is not used */
};
enum cb_flags { NO_REGS };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
					   void (*cb)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int, void *),
					  enum cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int, void *),
					    enum cb_flags flags, void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*cb)(plugin_id, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t len);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 4;

struct block {
	struct block *next;
	uint64_t address, times;
	size_t insns;
	uint64_t rep;		/* address of a rep string instruction at its end, or 0 */
	bool only_rep;		/* it starts with that instruction */
};

static struct block *blocks, outside;
static struct block *last = &outside;
static FILE *out;
static bool counting, profile, x86;
static uint64_t instructions, iterations, flushes;

enum mark { NONE, START, STOP, FLUSH };

static enum mark mark_of(const unsigned char *code, size_t size)
{
	/* nopl 0x4d4d333<n>(%rax) */
	static const unsigned char x86_mark[] = { 0x0f, 0x1f, 0x80 };
	unsigned int n = 3;

	if (x86 && size == 7 && !memcmp(code, x86_mark, 3) && !memcmp(code + 4, "3MM", 3))
		n = code[3] - 0x30;
	/* hint #(110 + n) */
	if (!x86 && size == 4 && code[3] == 0xd5 && code[2] == 0x03 && (code[1] & 0xf0) == 0x20 &&
	    (code[0] & 0x1f) == 0x1f)
		n = ((code[1] & 0xf) << 3 | code[0] >> 5) - 110;
	return n < 3 ? START + n : NONE;
}

/* movs, cmps, stos, lods or scas behind a rep prefix, and maybe others */
static bool is_rep(const unsigned char *code, size_t size)
{
	size_t i = 0;
	bool rep = false;

	if (!x86)
		return false;
	for (; i < size; i++) {
		if (code[i] == 0xf3 || code[i] == 0xf2)
			rep = true;
		else if (code[i] != 0x66 && code[i] != 0x67 && (code[i] & 0xf0) != 0x40)
			break;
	}
	return rep && i == size - 1 &&
	       ((code[i] >= 0xa4 && code[i] <= 0xa7) || (code[i] >= 0xaa && code[i] <= 0xaf));
}

static void on_block(unsigned int cpu, void *data)
{
	struct block *block = data;

	(void)cpu;
	if (counting) {
		block->times++;
		instructions += block->insns;
		/* An iteration that is not the last jumps back to its own instruction. */
		if (block->only_rep && last->rep == block->rep)
			iterations++;
	}
	last = block;
}

static void flush(void)
{
	for (struct block *block = blocks; block; block = block->next) {
		if (profile && block->times)
			fprintf(out, "BLOCK %" PRIx64 " %zu %" PRIu64 "\n", block->address,
				block->insns, block->times);
		block->times = 0;
	}
	fprintf(out, "FLUSH %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", flushes++, instructions,
		iterations);
	instructions = iterations = 0;
}

static void on_mark(unsigned int cpu, void *data)
{
	enum mark mark = (uintptr_t)data;

	(void)cpu;
	if (mark == FLUSH)
		flush();
	counting = mark == START;
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	struct block *block = calloc(1, sizeof(*block));
	unsigned char code[16];

	(void)id;
	if (!block)
		abort();
	block->address = qemu_plugin_tb_vaddr(tb);
	block->insns = qemu_plugin_tb_n_insns(tb);
	for (size_t i = 0; i < block->insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t size = qemu_plugin_insn_data(insn, code, sizeof(code));
		enum mark mark = mark_of(code, size);

		if (mark)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, NO_REGS,
							       (void *)(uintptr_t)mark);
		if (i == block->insns - 1 && is_rep(code, size)) {
			block->rep = qemu_plugin_insn_vaddr(insn);
			block->only_rep = i == 0;
		}
	}
	block->next = blocks;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGS, block);
}

static void at_end(plugin_id id, void *data)
{
	(void)id;
	(void)data;
	fclose(out);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct info *info, int argc, char **argv);
EXPORT int qemu_plugin_install(plugin_id id, const struct info *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
		else if (!strcmp(argv[i], "profile=on"))
			profile = true;
	}
	if (!out) {
		fprintf(stderr, "count.so: give it out=FILE that can be written\n");
		return -1;
	}
	x86 = !strcmp(info->target, "x86_64");
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, at_end, NULL);
	return 0;
}
