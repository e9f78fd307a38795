"""series.sh makes mails that apply to what they say, and refuses what cannot be sent."""

import mailbox
import re
import subprocess
import unittest

from small_base import BASE_FILES, SmallBase

# As the kernel's: a line for each person, and why.
GET_MAINTAINER = r"""
my $file = $ARGV[-1];
open(my $f, "<", $file) or die "$file\n";
my @text = <$f>;
exit 1 if grep { /mm\/nobody/ } @text;
print "M\xc3\xa4x Maintainer <max\@example.org> (maintainer:PERF)\n";
print "list\@example.org (open list:PERF)\n";
print "Tool Smith <smith\@example.org> (reviewer:TOOLS)\n"
	if grep { /^diff --git a\/tools\/perf/ } @text;
"""
COVER = "mm: Say it in words\n\nWhy.\n\n@COST@\n\n@CHECKED@\n\nOn @BASE@.\n"
COMPARE = """## x86_64, count

| map | event | base | patched | difference | limit |
|---|---|---|---|---|---|
| file | none | 9810 | 9841 | +0.32% | 0.5% |
"""


class Series(SmallBase):
    def setUp(self):
        super().setUp()
        self.make_series()
        self.cover = self.dir / "cover"
        self.cover.mkdir()
        for s in ("kernel", "tools"):
            (self.cover / f"{s}.txt").write_text(COVER)
        self.docs = self.dir / "docs"
        self.docs.mkdir()
        (self.docs / "compare.md").write_text(COMPARE)
        (self.docs / "check-series.md").write_text("x\n\n7 ok, 0 no, 1 skipped; 3 minutes.\n")
        # What Debian patches is known, so nothing is fetched.
        (self.cache / "source" / "debian-patched-7.3.4-1.txt").write_text("mm/mmap.c\nnet/x.c\n")

    def base_files(self):
        return BASE_FILES | {"scripts/get_maintainer.pl": GET_MAINTAINER}

    def series_sh(self, **env):
        return self.script("series.sh", COVER=str(self.cover), DOCS=str(self.docs), **env)

    def mails(self, name, version=1):
        return sorted((self.cache / "mails" / f"v{version}" / name).glob("*.patch"))

    def test_mails(self):
        r = self.passes(self.series_sh())
        self.assertIn("the same tree as 'make tree' with the provider in it", r.stdout)
        self.assertIn("also patched by Debian: mm/mmap.c", r.stdout)
        self.assertNotIn("net/x.c", r.stdout)
        self.assertIn("not to be sent yet", r.stdout)
        kernel = [p.name for p in self.mails("kernel")]
        self.assertEqual(
            kernel,
            [
                "0000-cover-letter.patch",
                "0001-mm-Say-five.patch",
                "0002-mm-Say-thirty.patch",
                "0003-perf-Add-the-provider-of-PERF_RECORD_MMAP3.patch",
            ],
        )
        cover = self.mails("kernel")[0].read_text()
        self.assertIn("Subject: [PATCH 0/3] mm: Say it in words", cover)
        for text in ("file  none", "9841", "7 ok, 0 no, 1 skipped\n", "On 7.3.4.", "base-commit: "):
            self.assertIn(text, cover)
        self.assertNotIn("***", cover)
        self.assertIn("To: =?utf-8?q?M=C3=A4x_Maintainer?= <max@example.org>", cover)
        self.assertIn("Cc: list@example.org", cover)
        self.assertNotIn("smith@example.org", cover)
        self.assertIn("smith@example.org", self.mails("tools")[1].read_text())
        self.assertEqual(len(mailbox.mbox(self.cache / "mails/v1/kernel.mbox")), 4)

    def test_fresh_base_and_mails_give_the_same_tree(self):
        self.passes(self.series_sh())
        fresh = self.dir / "fresh"
        self.git("worktree", "add", "-q", "--detach", str(fresh), "mmap3-base")
        mboxes = [str(self.cache / "mails" / "v1" / f"{s}.mbox") for s in ("tools", "kernel")]
        self.git("am", "-q", "--empty=drop", *mboxes, tree=fresh)
        provider = self.passes(self.script("intree-patch.sh")).stdout.strip()
        self.assertEqual(
            self.git("rev-parse", "HEAD^{tree}", tree=fresh),
            self.git("rev-parse", f"{provider}^{{tree}}"),
        )
        self.assertIn("grüße", self.git("log", "--format=%B", tree=fresh))

    def test_sender_signs_all_and_is_the_author(self):
        r = self.passes(self.series_sh(SIGNOFF="Jo Doe <jo@example.org>"))
        self.assertIn("signed off by Jo Doe", r.stdout)
        for p in self.mails("kernel")[1:] + self.mails("tools")[1:]:
            with self.subTest(p.name):
                text = p.read_text()
                message = text.split("\n---\n")[0]
                self.assertEqual(message.splitlines()[-1], "Signed-off-by: Jo Doe <jo@example.org>")
                self.assertIn("\nFrom: Jo Doe <jo@example.org>\n", text)
                self.assertNotIn("perf-mmap3@localhost", text)

    def test_no_sender_that_is_none(self):
        for bad in ("Jo", "jo@example.org", "Jo <jo>", "<jo@example.org>"):
            with self.subTest(bad):
                self.refused(self.series_sh(SIGNOFF=bad), "SIGNOFF=", "Name <address>")

    def test_second_version(self):
        self.refused(self.series_sh(V="2"), "v1-kernel.mbox", "KEEP=1")
        self.passes(self.series_sh(KEEP="1"))
        self.refused(self.series_sh(V="2"), "does not say what changed", "Changes in v2")
        for s in ("kernel", "tools"):
            (self.cover / f"{s}.txt").write_text(COVER + "\nChanges in v2:\n - thirty one\n")
        p = self.patches / "kernel" / "0002-mm-Say-thirty.patch"
        p.write_text(p.read_text().replace("+line thirty", "+line thirty-one"))
        self.passes(self.series_sh(V="2"))
        cover = self.mails("kernel", 2)[0].read_text()
        self.assertIn("Subject: [PATCH v2 0/3]", cover)
        self.assertIn("Range-diff", cover)
        self.assertRegex(cover, r"2:  \w+ ! 2:  \w+ mm: Say thirty")
        self.assertRegex(cover, r"1:  \w+ = 1:  \w+ mm: Say five")
        self.assertIn("+line thirty-one", cover)

    def test_mails_that_make_another_tree_are_refused(self):
        """The check is one: a mail that loses a line does not pass."""
        fake = self.dir / "bin"
        fake.mkdir()
        git = fake / "git"
        real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout
        git.write_text(
            "#!/bin/bash\n"
            'for a; do if [ "$a" = am ]; then for f; do\n'
            '  case $f in *kernel.mbox) sed -i "s/^+line five/+line 5 5/" "$f" ;; esac\n'
            f'done; fi; done\nexec {real.strip()} "$@"\n'
        )
        git.chmod(0o755)
        r = self.series_sh(PATH=f"{fake}:/usr/local/bin:/usr/bin:/bin")
        self.refused(r, "make another tree", code=1)

    def test_what_nothing_fills_in_is_refused(self):
        (self.cover / "kernel.txt").write_text(COVER + "@LATER@\n")
        self.refused(self.series_sh(), "@LATER@")

    def test_a_patch_of_nobody_is_refused(self):
        self.edit("mm/mmap.c", "line 10\n", "line ten\n")
        (self.tree / "mm" / "nobody.c").write_text("x\n")
        self.commit("mm: Add what nobody maintains")
        self.passes(self.script("refresh.sh"))
        self.refused(self.series_sh(), "names nobody for 0003-mm-Add-what")

    def test_work_that_is_not_in_the_patches(self):
        self.edit("mm/mmap.c", "line 10\n", "line ten\n")
        self.refused(self.series_sh(), "make refresh")

    def test_recipients_are_listed_with_their_roles(self):
        self.passes(self.series_sh())
        text = (self.cache / "mails/v1/tools/recipients.txt").read_text()
        self.assertTrue(
            re.search(r"^Tool Smith <smith@example.org> \(reviewer:TOOLS\): 0001$", text, re.M)
        )


if __name__ == "__main__":
    unittest.main()
