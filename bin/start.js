import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const needed = 24;

/**
 * Runs a program of cmd/, with more words before its own: the sources in a checkout, what was
 * compiled of them in a package.
 */
export async function start(program, words = []) {
  if (Number(process.versions.node.split('.')[0]) < needed) return await startOnOwnNode();
  process.argv.splice(2, 0, ...words);
  const source = new URL(`../cmd/${program}.ts`, import.meta.url);
  const compiled = new URL(`../dist/cmd/${program}.js`, import.meta.url);
  await import((existsSync(source) ? source : compiled).href);
}

/** A checkout, and a project that depends on us, has a Node of its own, for machines with an older one. */
async function startOnOwnNode() {
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
