#!/usr/bin/env python3
"""tools/measure_functions on injected functions: each limit is passed by one more and met by one less."""
import importlib.machinery
import importlib.util
import os
import sys
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "measure_functions")
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("measure_functions", TOOL)
spec = importlib.util.spec_from_loader("measure_functions", loader)
measure = importlib.util.module_from_spec(spec)
loader.exec_module(measure)


def only(text):
    functions = measure.functions_of(text)
    assert len(functions) == 1, [f.name for f in functions]
    return functions[0]


class Lines(unittest.TestCase):
    def test_from_the_name_to_the_brace(self):
        self.assertEqual(only("int f() {\n  a();\n  return 1;\n}\n").lines, 4)

    def test_a_table_does_not_count(self):
        self.assertEqual(only("int f() {\n  static const int kTable[] = {\n      1,\n      2,\n  };\n  return 1;\n}").lines, 5)

    def test_a_lambda_in_a_table_counts(self):
        self.assertEqual(only("void f() {\n  T t = {\n      [] {\n        a();\n      },\n      2,\n  };\n}").lines, 7)

    def test_a_raw_string_does_not_count(self):
        self.assertEqual(only('void f() {\n  s = R"(one {\ntwo\n)";\n}').lines, 3)


class Parameters(unittest.TestCase):
    def test_commas_of_templates_and_defaults(self):
        self.assertEqual(only("void f(std::map<int, T> a, B b = {1, 2}, C c = g(1, 2)) {}").parameters, 3)
        self.assertEqual(only("void f() {}").parameters, 0)

    def test_a_constructor(self):
        found = only("C::C(int a, int b) : a_(a), b_{b}, c_(f(a, b)) {\n}\n")
        self.assertEqual((found.name, found.parameters), ("C::C", 2))

    def test_an_operator(self):
        self.assertEqual(only("bool operator()(int a, int b) const { return a < b; }").parameters, 2)


class Nesting(unittest.TestCase):
    def test_braces_and_bare_statements(self):
        self.assertEqual(only("void f() { a(); }").nesting, 0)
        self.assertEqual(only("void f() { for (;;) if (a) b(); }").nesting, 2)
        self.assertEqual(only("void f() { for (;;) { if (a) { b(); } } }").nesting, 2)

    def test_else_if_continues(self):
        self.assertEqual(only("void f() { if (a) b(); else if (c) d(); else if (e) g(); else h(); }").nesting, 1)

    def test_lambdas(self):
        self.assertEqual(only("void f() { g([&](int x) { if (x) h(); }); }").nesting, 2)

    def test_initialisers_are_flat(self):
        self.assertEqual(only("void f() { T t{{1}, {2}}; g(T{.a = 1}); }").nesting, 0)


class Containers(unittest.TestCase):
    def test_members_are_found(self):
        found = measure.functions_of(
            "namespace a {\nclass B final : public C<int> {\n public:\n  B() = default;\n  int f() const override { return 1; }\n"
            "  enum class E { kOne };\n  int x = 1;\n};\ntemplate <typename T>\nauto g(T t) -> int {\n  return 1;\n}\n}\n"
            '#define X {\nextern "C" {\nvoid h() {}\n}\nconstexpr auto kF = [](int a) { return a; };\nvoid last() {}\n')
        self.assertEqual([(f.name, f.line) for f in found], [("f", 5), ("g", 10), ("h", 16), ("last", 19)])


if __name__ == "__main__":
    unittest.main()
