"""The C source of the extension module: what takes arguments apart and calls compiled kernels.

A kernel compiled by numba is a C function: `int32 kernel(result *, error **, arguments...)`. An
array argument is passed as seven: two that only matter to numba's reference counting, the number
of items, their size, the data, the shape and the stride. A tuple is passed as its items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from triplestore.data_classes import data_class

HEAD = r"""
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdint.h>

#define ARRAY_FIELDS void *, void *, int64_t, int64_t, void *, int64_t, int64_t
#define PASS(a) NULL, NULL, (a)->size, (a)->item, (a)->data, (a)->size, (a)->item

typedef struct { int64_t size, item; void *data; } array;

/* The letter of a dtype's kind and its size: 'u' + 8 is uint64. */
static const struct { char kind; signed char size; } types[] = {
    [NPY_BOOL] = {'b', 1},
    [NPY_UBYTE] = {'u', 1}, [NPY_USHORT] = {'u', 2}, [NPY_UINT] = {'u', 4},
    [NPY_ULONG] = {'u', sizeof(long)}, [NPY_ULONGLONG] = {'u', 8},
    [NPY_BYTE] = {'i', 1}, [NPY_SHORT] = {'i', 2}, [NPY_INT] = {'i', 4},
    [NPY_LONG] = {'i', sizeof(long)}, [NPY_LONGLONG] = {'i', 8},
    [NPY_FLOAT] = {'f', 4}, [NPY_DOUBLE] = {'f', 8},
};

static inline int
take_array(PyObject *given, char kind, int size, int flags, array *out)
{
    if (!PyArray_Check(given)) return 0;
    PyArrayObject *from = (PyArrayObject *)given;
    int type = PyArray_TYPE(from);
    flags |= NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    if (PyArray_NDIM(from) != 1 || (PyArray_FLAGS(from) & flags) != flags
        || type < 0 || type > NPY_DOUBLE || types[type].kind != kind || types[type].size != size
        || PyArray_DESCR(from)->byteorder == NPY_OPPBYTE)
        return 0;
    out->size = PyArray_DIM(from, 0);
    out->item = size;
    out->data = PyArray_DATA(from);
    return 1;
}

static inline int
take_tuple(PyObject *given, Py_ssize_t length, char kind, int size, int flags, array *out)
{
    if (!PyTuple_Check(given) || PyTuple_Size(given) != length) return 0;
    for (Py_ssize_t i = 0; i < length; i++)
        if (!take_array(PyTuple_GetItem(given, i), kind, size, flags, out + i)) return 0;
    return 1;
}

static inline int
take_integer(PyObject *given, uint64_t *out)
{
    if (!PyLong_Check(given)) {
        if (!PyArray_IsScalar(given, Generic)) return 0;
        PyObject *number = PyNumber_Long(given);
        if (!number) return PyErr_Clear(), 0;
        *out = PyLong_AsUnsignedLongLongMask(number);
        Py_DECREF(number);
        return 1;
    }
    *out = PyLong_AsUnsignedLongLongMask(given);
    return 1;
}

static PyObject *
no_match(const char *name, PyObject *const *given, Py_ssize_t count)
{
    PyObject *types = PyList_New(0);
    for (Py_ssize_t i = 0; types && i < count; i++) {
        PyObject *one = PyArray_Check(given[i])
            ? PyUnicode_FromFormat("array of %S, %d dimensions, flags %d",
                  PyArray_DESCR((PyArrayObject *)given[i]), PyArray_NDIM((PyArrayObject *)given[i]),
                  PyArray_FLAGS((PyArrayObject *)given[i]))
            : PyObject_Str((PyObject *)Py_TYPE(given[i]));
        if (!one || PyList_Append(types, one)) Py_CLEAR(types);
        Py_XDECREF(one);
    }
    if (types)
        PyErr_Format(PyExc_TypeError,
            "No matching definition of kernel %s for argument types %S", name, types);
    Py_XDECREF(types);
    return NULL;
}

static PyObject *
failed(void)  /* kernels raise nothing themselves; numba checks divisions */
{
    PyErr_SetString(PyExc_ZeroDivisionError, "division by zero");
    return NULL;
}
"""

TAIL = """
static struct PyModuleDef module = {{
    PyModuleDef_HEAD_INIT, "_compiled", "Kernels compiled ahead of time.", -1, methods,
}};

PyMODINIT_FUNC
PyInit__compiled(void)
{{
    import_array();
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddStringConstant(made, "source_hash", "{source_hash}")) Py_CLEAR(made);
    return made;
}}
"""


@data_class(slots=False)
class Overload:
    """A kernel compiled for one signature.

    symbol     the name of its C function
    arguments  the numba types of its arguments
    """

    symbol: str
    arguments: tuple[Any, ...]
    returns: bool


def write_c(kernels: Iterable[tuple[str, list[Overload]]], source_hash: str) -> str:
    """The source for kernels of these names."""
    parts = [HEAD]
    methods = []
    for name, overloads in kernels:
        parts += map(_prototype, overloads)
        parts.append(_wrapper(name, overloads))
        method = f"call_{overloads[0].symbol}"
        methods.append(f'    {{"{name}", (PyCFunction)(void *){method}, METH_FASTCALL, NULL}},')
    parts.append("static PyMethodDef methods[] = {")
    parts += [*methods, "    {NULL, NULL, 0, NULL},", "};"]
    parts.append(TAIL.format(source_hash=source_hash))
    return "\n".join(parts)


def _prototype(overload: Overload) -> str:
    result = "int64_t *" if overload.returns else "void **"
    arguments = "".join(f", {text}" for text in map(_c_types, overload.arguments))
    return f"extern int32_t {overload.symbol}({result}, void **{arguments});"


def _c_types(argument: Any) -> str:
    from numba import types as nb

    if isinstance(argument, nb.UniTuple):
        return ", ".join(["ARRAY_FIELDS"] * argument.count)
    if isinstance(argument, nb.Array):
        return "ARRAY_FIELDS"
    if argument == nb.boolean:
        return "int8_t"
    if argument in (nb.int64, nb.uint64):
        return "int64_t"
    raise TypeError(f"kernels with an argument {argument} cannot be compiled ahead of time")


def _wrapper(name: str, overloads: list[Overload]) -> str:
    lines = [
        "static PyObject *",
        f"call_{overloads[0].symbol}(PyObject *self, PyObject *const *given, Py_ssize_t count)",
        "{",
        f"    if (count != {len(overloads[0].arguments)})"
        f" return no_match({_quoted(name)}, given, count);",
    ]
    for overload in overloads:
        lines += _attempt(overload)
    lines += [f"    return no_match({_quoted(name)}, given, count);", "}", ""]
    return "\n".join(lines)


def _attempt(overload: Overload) -> Iterator[str]:
    from numba import types as nb

    taken, passed = [], []
    yield "    {"
    for place, argument in enumerate(overload.arguments):
        it = f"a{place}"
        if isinstance(argument, nb.UniTuple):
            yield f"        array {it}[{argument.count}];"
            details = f"{argument.count}, {_details(argument.dtype)}"
            taken.append(f"take_tuple(given[{place}], {details}, {it})")
            passed += [f"PASS({it} + {i})" for i in range(argument.count)]
        elif isinstance(argument, nb.Array):
            yield f"        array {it};"
            taken.append(f"take_array(given[{place}], {_details(argument)}, &{it})")
            passed.append(f"PASS(&{it})")
        else:
            yield f"        uint64_t {it};"
            taken.append(f"take_integer(given[{place}], &{it})")
            passed.append(f"{it} != 0" if argument == nb.boolean else f"(int64_t){it}")
    yield f"        if ({' && '.join(taken)}) {{"
    yield "            int64_t result = 0; void *nothing = NULL, *error = NULL;"
    yield "            PyThreadState *state = PyEval_SaveThread();"
    passed = ["&result" if overload.returns else "&nothing", "&error", *passed]
    yield f"            int32_t status = {overload.symbol}({', '.join(passed)});"
    yield "            PyEval_RestoreThread(state);"
    yield "            if (status) return failed();"
    result = "PyLong_FromLongLong(result)" if overload.returns else "Py_NewRef(Py_None)"
    yield f"            return {result};"
    yield "        }"
    yield "    }"


def _details(array: Any) -> str:
    from numba.np.numpy_support import as_dtype

    if array.ndim != 1 or array.layout != "C":
        raise TypeError(f"kernels with an argument {array} cannot be compiled ahead of time")
    dtype = as_dtype(array.dtype)
    flags = "NPY_ARRAY_WRITEABLE" if array.mutable else "0"
    return f"'{dtype.kind}', {dtype.itemsize}, {flags}"


def _quoted(text: str) -> str:
    return f'"{text}"'
