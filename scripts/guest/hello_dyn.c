// SPDX-License-Identifier: GPL-2.0
/* What the guest's bench executes: a program that only its loader and libc work for. */
int main(void)
{
	return 0;
}
