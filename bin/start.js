import { existsSync } from 'node:fs';

const needed = 24;

/**
 * Runs a program of cmd/, with more words before its own: the sources in a checkout, what was
 * compiled of them in a package, there in few files if it was bundled.
 */
export async function start(program, words = []) {
  if (Number(process.versions.node.split('.')[0]) < needed) {
    const { startOnOwnNode } = await import('./own-node.js');
    return await startOnOwnNode(needed);
  }
  process.argv.splice(2, 0, ...words);
  const files = [`cmd/${program}.ts`, `dist/bundle/${program}.js`, `dist/cmd/${program}.js`];
  const places = files.map((file) => new URL(`../${file}`, import.meta.url));
  const found = places.find((place) => existsSync(place)) ?? places[0];
  await import(found.href);
}
