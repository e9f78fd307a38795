"""Bad input to the build side ends in one clear line, the right exit code, and
nothing half-made; and going from patches to the tree and back changes no byte."""

import contextlib
import os
import shutil
import subprocess
import unittest
from pathlib import Path

from small_base import BASE_FILES, REPO, SCRIPTS, SmallBase


class BuildSide(SmallBase):
    # --- arguments, tools, room ---

    def test_unknown_arch(self):
        for cmd in (["kernel.sh", "riscv"], ["selftests.sh", "riscv"], ["module.sh", "riscv"]):
            with self.subTest(cmd[0]):
                self.refused(self.script(*cmd), "unknown ARCH 'riscv'", "x86_64 arm64")

    def test_unknown_arch_through_make(self):
        r = self.run_in("make", "kernel", "ARCH=riscv")
        self.refused(r, "unknown ARCH 'riscv'", "x86_64 arm64")

    def test_unknown_flavour(self):
        self.refused(
            self.script("kernel.sh", "x86_64", "fast"), "unknown FLAVOUR 'fast'", "default"
        )

    def test_arguments_of_no_program(self):
        boot = ("boot.sh", "x86_64", "default", "test")
        self.refused(self.script(*boot, ARGS="-n 5"), "name it with RUN=")
        self.refused(self.script(*boot, TIMEOUT="5"), "name it with RUN=")
        self.refused(self.script(*boot, RUN="x", ARGS="-n 1,000"), "no commas")
        self.refused(self.script(*boot, RUN="x", TIMEOUT="5m"), "give seconds")

    def test_variant_the_arch_cannot_build(self):
        self.refused(self.script("kernel.sh", "x86_64", "noperf"), "noperf", "x86_64")

    def tools_without(self, missing):
        """A PATH with every tool of this machine but one; bwrap does nothing."""
        tools = self.dir / "bin"
        tools.mkdir()
        for d in ("/bin", "/usr/bin"):
            for t in Path(d).iterdir():
                if t.name != missing and not (tools / t.name).exists():
                    (tools / t.name).symlink_to(t)
        (tools / "bwrap").unlink(missing_ok=True)
        (tools / "bwrap").symlink_to("/bin/true")
        return str(tools)

    def test_missing_tool(self):
        r = self.script("toolroot.sh", PATH=self.tools_without("mmdebstrap"))
        self.refused(r, "mmdebstrap is missing", "apt-get install mmdebstrap")

    def test_missing_xz(self):
        packed = self.dir / "linux.tar.xz"
        packed.write_bytes(b"any")
        r = self.script("tree.sh", PATH=self.tools_without("xz"), KERNEL_SRC=str(packed))
        self.refused(r, "xz is missing", "apt-get install xz-utils")

    def test_no_space(self):
        r = self.script("toolroot.sh", SPACE_MIB_FREE="10")
        self.refused(r, "needs 3500 MiB", "10 MiB are free", "CACHE=")
        self.assertEqual(list(self.cache.glob("toolroot-*")), [])

    def test_no_space_on_a_real_small_disk(self):
        if not shutil.which("bwrap"):
            self.skipTest("bwrap is missing")
        small = self.dir / "small"
        small.mkdir()
        cmd = ["bwrap", "--dev-bind", "/", "/", "--size", "1048576", "--tmpfs", str(small)]
        cmd += ["--setenv", "CACHE", str(small), str(SCRIPTS / "toolroot.sh")]
        self.refused(self.run_in(*cmd), "the toolchain root needs 3500 MiB", str(small))

    def as_user(self, **tools):
        """What toolroot.sh does for a user, with stand-ins for some tools."""
        bin_ = self.dir / "bin"
        bin_.mkdir(exist_ok=True)
        tools = {
            "id": "[ $1 = -u ] && echo 1000 || echo somebody",
            "newuidmap": ":",
            "getsubids": ":",
            "unshare": ":",
            "bwrap": ":",
            "mmdebstrap": "exit 1",
        } | tools
        for name, text in tools.items():
            (bin_ / name).write_text(f"#!/bin/sh\n{text}\n")
            (bin_ / name).chmod(0o755)
        return self.script(
            "toolroot.sh",
            PATH=f"{bin_}:{os.environ['PATH']}",
            MIRROR="http://127.0.0.1:9/debian",
            SPACE_MIB_FREE="7000",
        )

    def test_user_without_subordinate_ids(self):
        for kind in ("", "-g"):
            with self.subTest(kind):
                r = self.as_user(getsubids=f'[ "$1" = "{kind or "somebody"}" ] && exit 1 || :')
                self.refused(r, "user somebody has no range", "--add-subuids", "--add-subgids")

    def test_user_without_namespaces(self):
        self.refused(self.as_user(unshare="exit 1"), "gives users no namespaces", "sysctl")

    def test_user_whose_home_is_closed(self):
        # The hook runs under another uid, which gets no further than a path's first
        # folder that is closed; nor could the new root grow in there.
        said = self.dir / "said"
        r = self.as_user(mmdebstrap=f'printf "%s\\n" "TMPDIR=$TMPDIR" "$@" >{said}; exit 1')
        self.refused(r, "the toolchain root was not made")
        args = said.read_text()
        self.assertIn("dpkg -x", args)
        self.assertNotIn(str(REPO), args)
        self.assertNotIn(str(self.cache), args)
        self.assertTrue(args.startswith("TMPDIR=/var/tmp\n"), args[:80])

    def test_cache_that_cannot_be_made(self):
        self.refused(self.script("tree.sh", CACHE="/dev/null/x"), "/dev/null/x", "CACHE=")

    # --- the source ---

    def test_no_network(self):
        self.tarball.unlink()
        r = self.script("fetch-source.sh", MIRROR="http://127.0.0.1:9/debian")
        self.refused(r, "linux-source-7.3 7.3.4-1 was not fetched", "KERNEL_SRC=", "log: ")
        self.assertEqual([p.name for p in (self.cache / "source").iterdir()], [])

    def test_wrong_sha256(self):
        self.write_base("0" * 64)
        self.refused(self.script("tree.sh"), self.tarball.name, "wants " + "0" * 64)
        self.assertFalse(self.tree.exists())
        self.assertFalse(Path(str(self.tree) + ".tmp").exists())

    def test_damaged_after_it_was_checked(self):
        self.passes(self.script("fetch-source.sh"))
        self.tarball.write_bytes(self.tarball.read_bytes()[:-20])
        self.refused(self.script("fetch-source.sh"), self.tarball.name, "sha256")

    def user_tree(self, version):
        src = self.dir / "mine"
        shutil.copytree(self.dir / "linux-source-7.3", src)
        (src / "Makefile").write_text(
            BASE_FILES["Makefile"].replace("SUBLEVEL = 4", f"SUBLEVEL = {version}")
        )
        return src

    def test_kernel_src_of_another_version(self):
        src = self.user_tree(9)
        self.refused(self.script("tree.sh", KERNEL_SRC=str(src)), "7.3.9", "7.3.4", "ANY_VERSION=1")
        self.assertFalse(self.tree.exists())
        self.passes(self.script("tree.sh", KERNEL_SRC=str(src), ANY_VERSION="1"))

    def test_kernel_src_folder_tarball_and_git_give_the_same_commit(self):
        heads = set()
        src = self.user_tree(4)
        (src / ".gitignore").write_text("*.o\n")
        repo = self.dir / "repo"
        shutil.copytree(src, repo)
        self.git("init", "-q", tree=repo)
        self.git("add", "-Af", tree=repo)
        self.git("commit", "-q", "-m", "mine", tree=repo)
        for i, s in enumerate((src, self.tarball, repo)):
            self.passes(self.script("tree.sh", KERNEL_SRC=str(s), TREE=str(self.dir / f"t{i}")))
            heads.add(self.git("rev-parse", "HEAD", tree=self.dir / f"t{i}"))
        self.assertEqual(len(heads), 1, heads)

    def test_kernel_src_that_is_no_kernel(self):
        bad = self.dir / "x.tar.gz"
        bad.write_text("no tar")
        self.refused(self.script("tree.sh", KERNEL_SRC=str(bad)), "x.tar.gz", "cannot be unpacked")
        self.assertFalse(self.tree.exists())
        self.refused(self.script("tree.sh", KERNEL_SRC="/nonexistent"), "/nonexistent")

    def test_foreign_tree_is_left_alone(self):
        (self.dir / "precious").mkdir()
        (self.dir / "precious" / "f").write_text("x")
        r = self.script("tree.sh", TREE=str(self.dir / "precious"))
        self.refused(r, "precious", "was not made by 'make tree'")
        self.assertEqual((self.dir / "precious" / "f").read_text(), "x")

    # --- patches and tree ---

    def test_round_trip_is_byte_stable(self):
        self.make_series()
        before = self.series()
        self.assertEqual(
            sorted(before),
            [
                "kernel/0001-mm-Say-five.patch",
                "kernel/0002-mm-Say-thirty.patch",
                "tools/0001-perf-record-Add-mmap3.patch",
            ],
        )
        shutil.rmtree(self.tree)
        self.passes(self.script("tree.sh"))
        head = self.git("rev-parse", "HEAD")
        self.passes(self.script("refresh.sh"))
        self.assertEqual(self.series(), before)
        # and the hashes do not depend on who applies the patches, and when
        shutil.rmtree(self.tree)
        self.passes(self.script("tree.sh", GIT_AUTHOR_NAME="Else", EMAIL="e@localhost"))
        self.assertEqual(self.git("rev-parse", "HEAD"), head)
        self.assertIn("line five", (self.tree / "mm/mmap.c").read_text())

    def test_users_git_settings_change_nothing(self):
        self.make_series()
        before = self.series()
        home = self.dir / "home"
        home.mkdir()
        (home / ".gitconfig").write_text(
            "[format]\nsignature = hello\nnumbered = true\n[diff]\nnoprefix = true\ncontext = 9\n"
            "algorithm = histogram\n[core]\nabbrev = 5\nautocrlf = true\n[commit]\ngpgSign = true\n"
        )
        shutil.rmtree(self.tree)
        self.passes(self.script("tree.sh", HOME=str(home)))
        self.passes(self.script("refresh.sh", HOME=str(home)))
        self.assertEqual(self.series(), before)

    def test_only_files_that_differ_are_touched(self):
        self.make_series()
        stamps = {
            p: p.stat().st_mtime_ns
            for p in self.tree.rglob("*")
            if p.is_file() and ".git" not in p.parts
        }
        p = self.patches / "tools" / "0001-perf-record-Add-mmap3.patch"
        p.write_text(p.read_text().replace("+record --mmap3", "+record -3"))
        self.passes(self.script("tree.sh"))
        changed = [
            str(p.relative_to(self.tree)) for p, t in stamps.items() if p.stat().st_mtime_ns != t
        ]
        self.assertEqual(changed, ["tools/perf/builtin-record.c"])

    def test_conflict(self):
        self.make_series()
        head = self.git("rev-parse", "HEAD")
        p = self.patches / "kernel" / "0002-mm-Say-thirty.patch"
        p.write_text(p.read_text().replace("-line 30", "-line 33"))
        self.refused(
            self.script("tree.sh"),
            "kernel/0002-mm-Say-thirty.patch",
            "mm/mmap.c",
            "refresh",
            "log: ",
        )
        # nothing half-applied: the tree is as it was, and no helper folder is left
        self.assertEqual(self.git("rev-parse", "HEAD"), head)
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertFalse(Path(str(self.tree) + ".apply").exists())
        # again the same, not taken for done
        self.refused(self.script("tree.sh"), "kernel/0002-mm-Say-thirty.patch")

    def test_patch_that_is_no_patch(self):
        (self.patches / "kernel" / "0001-x.patch").write_text("hello\n")
        self.refused(self.script("tree.sh"), "kernel/0001-x.patch")

    def test_local_work_is_kept(self):
        self.make_series()
        (self.tree / "mm" / "new.c").write_text("mine\n")
        self.edit("mm/mmap.c", "line 10\n", "line ten\n")
        # the same patches: the tree is used as it is
        r = self.passes(self.script("tree.sh"))
        self.assertIn("edits not committed", r.stderr)
        # other patches: nothing is overwritten
        p = self.patches / "tools" / "0001-perf-record-Add-mmap3.patch"
        p.write_text(p.read_text().replace("+record --mmap3", "+record -3"))
        self.refused(self.script("tree.sh"), "edits not committed", "REPLACE=1", "DISCARD=1")
        self.refused(self.script("refresh.sh"), "linux-patches changed")
        self.assertIn("line ten", (self.tree / "mm/mmap.c").read_text())
        # set aside on demand, where it can be found again
        self.passes(self.script("tree.sh", DISCARD="1"))
        self.assertIn("line 10\n", (self.tree / "mm/mmap.c").read_text())
        aside = self.git("branch", "--list", "aside-*", "--format=%(refname:short)")
        self.assertIn("line ten", self.git("show", f"{aside}:mm/mmap.c"))
        self.assertEqual(self.git("show", f"{aside}:mm/new.c"), "mine")

    def test_refresh_refuses(self):
        self.make_series()
        before = self.series()
        start = self.git("rev-parse", "HEAD")

        def edited():
            self.edit("mm/mmap.c", "line 20\n", "line twenty\n")

        def signed():
            edited()
            self.commit("mm: Twenty\n\nSigned-off-by: T <t@localhost>")

        def mixed():
            edited()
            self.edit("tools/perf/builtin-record.c", "record", "rec")
            self.commit("Both at once")

        def fixup():
            edited()
            self.commit("fixup! mm: Say thirty")

        for make, word in (
            (edited, "not committed"),
            (signed, "sign-off"),
            (mixed, "split"),
            (fixup, "autosquash"),
        ):
            with self.subTest(make.__name__):
                make()
                self.refused(self.script("refresh.sh"), word)
                self.assertEqual(self.series(), before)
                self.git("reset", "-q", "--hard", start)

    def test_refresh_takes_order_and_removal(self):
        self.make_series()
        # a kernel commit after the tools one still goes to the kernel series
        self.edit("tools/testing/selftests/perf_events/Makefile", "include", "# new\ninclude")
        self.commit("selftests/perf_events: Add a line")
        self.passes(self.script("refresh.sh"))
        self.assertIn("kernel/0003-selftests-perf_events-Add-a-line.patch", self.series())
        shutil.rmtree(self.tree)
        self.passes(self.script("tree.sh"))
        self.git("reset", "-q", "--hard", "mmap3-base")
        self.passes(self.script("refresh.sh"))
        self.assertEqual(self.series(), {})

    def test_intree_provider(self):
        self.make_series()
        head, status = self.git("rev-parse", "HEAD"), self.git("status", "--porcelain")
        commit = self.passes(self.script("intree-patch.sh")).stdout.strip()
        self.assertEqual(self.passes(self.script("intree-patch.sh")).stdout.strip(), commit)
        self.assertEqual(
            (self.git("rev-parse", "HEAD"), self.git("status", "--porcelain")), (head, status)
        )
        self.assertIn("mmap3/", self.git("show", f"{commit}:kernel/events/Makefile"))
        kconfig = self.git("show", f"{commit}:init/Kconfig")
        self.assertLess(
            kconfig.index("config PERF_EVENTS"), kconfig.index("kernel/events/mmap3/Kconfig")
        )
        self.assertLess(kconfig.index("kernel/events/mmap3/Kconfig"), kconfig.index("config NEXT"))
        names = self.git("ls-tree", "-r", "--name-only", commit, "kernel/events/mmap3")
        self.assertIn("kernel/events/mmap3/Kbuild", names)

    def test_cache_remove_keeps_work_and_foreign_files(self):
        self.make_series()
        (self.cache / "notes").write_text("not ours\n")
        for made in ("series/tree", "mails/v1"):
            (self.cache / made).mkdir(parents=True)
        self.edit("mm/mmap.c", "line 10\n", "line ten\n")
        self.refused(self.script("clean.sh", "--all"), "has work of yours", "DISCARD=1")
        self.assertIn("line ten", (self.tree / "mm/mmap.c").read_text())
        self.git("checkout", "-q", ".")
        self.passes(self.script("clean.sh", "--all"))
        self.assertEqual([p.name for p in self.cache.iterdir()], ["notes"])

    def test_clean_keeps_the_tree_and_the_source(self):
        self.make_series()
        (self.cache / "out" / "x86_64").mkdir(parents=True)
        self.passes(self.script("clean.sh"))
        self.assertFalse((self.cache / "out").exists())
        self.assertTrue(self.tree.exists() and self.tarball.exists())

    def test_stopped_while_the_tree_is_made(self):
        # A FIFO in place of the tarball: unpacking waits until it is killed.
        fifo = self.dir / "slow.tar"
        os.mkfifo(fifo)
        env = dict(
            os.environ, CACHE=str(self.cache), PATCHES=str(self.patches), KERNEL_SRC=str(fifo)
        )
        with subprocess.Popen(
            [SCRIPTS / "tree.sh"],
            env=env,
            cwd=REPO,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        ) as p:
            with contextlib.suppress(subprocess.TimeoutExpired):
                p.wait(0.5)
            os.killpg(p.pid, 15)
        self.assertFalse(self.tree.exists())
        self.passes(self.script("tree.sh"))


if __name__ == "__main__":
    unittest.main()
