#!/usr/bin/env python3
"""tools/measure_functions on injected functions and classes: each limit is passed by one more and met by one less."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
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


def sizes(files):
    """{(path, class): lines} of a dictionary of texts."""
    collected = measure.ClassSizes()
    for path, text in files.items():
        collected.add(path, measure.read(text))
    return {(path, found.name): lines for path, found, lines in collected.measured()}


class Classes(unittest.TestCase):
    def test_from_the_keyword_to_the_brace(self):
        self.assertEqual(sizes({"a/a.hpp": "template <typename T>\nclass [[nodiscard]] A final : public B<T> {\n  int x;\n};\n"}),
                         {("a/a.hpp", "A"): 3})

    def test_a_table_does_not_count(self):
        self.assertEqual(sizes({"a/a.hpp": "struct A {\n  int t[2] = {\n      1,\n      2,\n  };\n};\n"}), {("a/a.hpp", "A"): 4})

    def test_members_in_any_file_of_the_folder(self):
        header = "namespace n {\nclass A {\n  void f();\n  void g();\n};\n}\n"
        self.assertEqual(
            sizes({"a/a.hpp": header, "a/f.cpp": "namespace n {\nvoid A::f() {\n}\n}\n",
                   "a/g.cpp": "void n::A::g() {\n  h();\n}\nA f() {\n}\n"}),
            {("a/a.hpp", "A"): 4 + 2 + 3})

    def test_special_members_and_templates(self):
        header = "template <typename T>\nstruct A {\n};\n"
        members = ("template <typename T>\nA<T>::A() : x_{1} {\n}\ntemplate <typename T>\nA<T>::~A() {\n}\n"
                   "template <typename T>\nbool A<T>::operator()(int) {\n}\n")
        self.assertEqual(sizes({"a/a.hpp": header + members}), {("a/a.hpp", "A"): 2 + 2 + 2 + 2})

    def test_a_class_of_the_same_name_elsewhere(self):
        text = "namespace n {\nnamespace {\nstruct A {\n};\n%s\n}\n}\n"
        self.assertEqual(
            sizes({"a/one.cpp": text % "void A::f() {\n}", "a/two.cpp": text % "",
                   "b/a.cpp": text % ""}),
            {("a/one.cpp", "A"): 4, ("a/two.cpp", "A"): 2, ("b/a.cpp", "A"): 2})

    def test_the_same_folder_comes_before_another(self):
        files = {"a/a.hpp": "struct A {\n};\n", "b/a.hpp": "struct A {\n};\n", "b/f.cpp": "void A::f() {\n}\n"}
        self.assertEqual(sizes(files), {("a/a.hpp", "A"): 2, ("b/a.hpp", "A"): 4})

    def test_a_nested_class_defined_outside_counts_by_itself(self):
        text = "class A {\n  struct State;\n};\nstruct A::State {\n  void f();\n};\nvoid A::State::f() {\n}\n"
        self.assertEqual(sizes({"a/a.cpp": text}), {("a/a.cpp", "A"): 3, ("a/a.cpp", "State"): 5})

    def test_a_local_class_and_no_enumeration(self):
        text = "enum class E { kOne };\nvoid f() {\n  struct A {\n    int x;\n  };\n}\n"
        self.assertEqual(sizes({"a/a.cpp": text}), {("a/a.cpp", "A"): 3})


class LargeClasses(unittest.TestCase):
    """The program on one class of 5 lines, with a limit of 4 or 5 and a list."""

    def run_tool(self, listed, limit=4):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "a.cpp")
            with open(source, "w", encoding="utf-8") as file:
                file.write("struct A {\n  void f();\n};\nvoid A::f() {\n}\n")
            rows = os.path.join(folder, "list")
            with open(rows, "w", encoding="utf-8") as file:
                file.write("# A comment.\n" + listed.replace("FILE", source))
            done = subprocess.run([sys.executable, TOOL, "--class-lines", str(limit), "--large-classes", rows, source],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout.replace(source, "FILE") + done.stderr.replace(rows, "LIST")

    def test_the_limit(self):
        self.assertEqual(self.run_tool("", limit=5)[0], 0)
        code, output = self.run_tool("")
        self.assertEqual(code, 1)
        self.assertIn("FILE:1 A 5 class lines\n", output)

    def test_a_listed_class_may_shrink_and_not_grow(self):
        self.assertEqual(self.run_tool("FILE A 6\n")[0], 0)
        self.assertEqual(self.run_tool("FILE A 5\n")[0], 0)
        code, output = self.run_tool("FILE A 4\n", limit=3)
        self.assertEqual(code, 1)
        self.assertIn("5 class lines, more than the 4 of the list", output)

    def test_a_listed_class_under_the_limit(self):
        for row in ("FILE A 6\n", "FILE A rows of a table\n"):
            code, output = self.run_tool(row, limit=5)
            self.assertEqual(code, 1)
            self.assertIn("Remove it from the list", output)

    def test_a_listed_class_that_is_gone(self):
        code, output = self.run_tool("FILE B 9\n", limit=5)
        self.assertEqual(code, 1)
        self.assertIn("FILE B is listed but not found", output)

    def test_an_exception_has_a_reason(self):
        self.assertEqual(self.run_tool("FILE A rows of a table\n")[0], 0)
        code, output = self.run_tool("FILE A\n")
        self.assertEqual(code, 3)
        self.assertIn("LIST: line 2: expected FILE CLASS and a number of lines or a reason", output)

    def test_a_list_that_is_wrong(self):
        self.assertEqual(self.run_tool("FILE A 6\nFILE A 6\n")[0], 3)


if __name__ == "__main__":
    unittest.main()
