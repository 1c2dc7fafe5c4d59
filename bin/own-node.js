import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Runs the same program on the Node that a checkout, and a project that depends on us, has of its own,
 * on a machine with an older one than `needed`.
 */
export async function startOnOwnNode(needed) {
  const node = ownNode();
  if (node === undefined) {
    process.stderr.write(
      `Node ${needed} or later is needed; this is ${process.version}: npm install --save-dev node@${needed} brings one\n`,
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // The program itself ends when it has cleaned up. Ctrl-C reaches it without us.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const [status] = await once(child, 'exit');
  process.exitCode = status ?? 1;
}

/** Of the npm package `node`, wherever npm has put it. */
function ownNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json');
    const node = join(dirname(manifest), 'bin/node');
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}
