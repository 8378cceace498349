"""The wheel holds a shared library of this machine's kind, but none of this Python's."""
from setuptools import setup
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class AnyPython(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(distclass=WithLibrary, cmdclass={"bdist_wheel": AnyPython})
