#!/bin/sh
# Every script of a checkout begins with this: packages are installed once, and with them the Node that the scripts run on.
set -e
[ node_modules/.package-lock.json -nt package-lock.json ] || {
  echo 'Installing packages, this once.' >&2
  npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error >&2
}
[ -x node_modules/.bin/node ] || node -e '
  const [major, minor] = process.versions.node.split(".");
  if (major > 24 || (major == 24 && minor >= 15)) process.exit();
  console.error(`touchstone: this is Node ${process.versions.node}, and node_modules holds no newer one; install Node 24.15 or later, or on Linux run npm install without --omit=optional`);
  process.exit(2);'
