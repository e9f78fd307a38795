// SPDX-License-Identifier: GPL-2.0-only
/* The library that demo_target opens at run time. */

int demo_lib_answer(int question)
{
	return question + 1;
}
