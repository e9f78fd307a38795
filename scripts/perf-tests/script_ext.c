/*
 * An extension module of script.py. It uses Python's stable ABI, whose few types are
 * declared here as the toolchain root has no headers of Python.
 */
#include <stddef.h>

typedef ptrdiff_t Py_ssize_t;
typedef struct {
	Py_ssize_t refcnt;
	void *type;
} PyObject;

typedef struct {
	const char *name;
	PyObject *(*method)(PyObject *self, PyObject *argument);
	int flags;
	const char *doc;
} PyMethodDef;

struct PyModuleDef {
	PyObject base;
	PyObject *(*init)(void);
	Py_ssize_t index;
	PyObject *copy;
	const char *name;
	const char *doc;
	Py_ssize_t size;
	PyMethodDef *methods;
	void *slots;
	void *traverse;
	void *clear;
	void *free;
};

#define METH_O 0x0008
#define PYTHON_ABI_VERSION 3

PyObject *PyModule_Create2(struct PyModuleDef *def, int version);
unsigned long PyLong_AsUnsignedLong(PyObject *object);
PyObject *PyLong_FromUnsignedLong(unsigned long value);
PyObject *PyErr_Occurred(void);
PyObject *PyInit_script_ext(void);

/* A symbol of its own, for the samples. */
unsigned int script_ext_work(unsigned long rounds);

__attribute__((noinline)) unsigned int script_ext_work(unsigned long rounds)
{
	unsigned int sum = 1;

	while (rounds--) {
		sum ^= sum << 13;
		sum ^= sum >> 17;
		sum ^= sum << 5;
	}
	return sum;
}

static PyObject *work(PyObject *self, PyObject *argument)
{
	unsigned long rounds = PyLong_AsUnsignedLong(argument);

	(void)self;
	if (PyErr_Occurred())
		return NULL;
	return PyLong_FromUnsignedLong(script_ext_work(rounds));
}

static PyMethodDef methods[] = {
	{ "work", work, METH_O, "Compute for so many rounds." },
	{ 0 },
};

static struct PyModuleDef module = {
	.base = { .refcnt = 1 },
	.name = "script_ext",
	.size = -1,
	.methods = methods,
};

PyObject *PyInit_script_ext(void)
{
	return PyModule_Create2(&module, PYTHON_ABI_VERSION);
}
