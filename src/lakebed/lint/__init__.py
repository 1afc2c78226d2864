"""Check declared tables against the rules of a project: names, descriptions, personal data, keys, options, engines."""

from lakebed.lint.lint_files import LintReport, MendedText, fix_text, lint_files
from lakebed.lint.lint_settings import LintSettings

__all__ = ["LintReport", "LintSettings", "MendedText", "fix_text", "lint_files"]
