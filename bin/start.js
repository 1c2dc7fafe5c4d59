import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const needed = 24;

/**
 * Runs a program of cmd/, with more words before its own: the sources in a checkout, what was
 * compiled of them in a package.
 */
export async function start(program, words = []) {
  if (Number(process.versions.node.split('.')[0]) < needed) return startOnOwnNode();
  process.argv.splice(2, 0, ...words);
  const source = new URL(`../cmd/${program}.ts`, import.meta.url);
  const compiled = new URL(`../dist/cmd/${program}.js`, import.meta.url);
  await import((existsSync(source) ? source : compiled).href);
}

/** A checkout has a Node of its own, for machines with an older one. */
function startOnOwnNode() {
  const node = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write(`Node ${needed} or later is needed; this is ${process.version}\n`);
    process.exitCode = 1;
    return;
  }
  // The program itself ends at Ctrl-C, when it has cleaned up.
  process.on('SIGINT', () => {});
  const { status } = spawnSync(node, process.argv.slice(1), { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
