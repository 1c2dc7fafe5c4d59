import { rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

/**
 * `npm run build`: puts the modules of opm, compiled before, into few files (`dist/bundle`), because
 * the loading of more than a hundred took a third of a short run. A command that is loaded when it is
 * named stays a file of its own.
 */
const dist = join(import.meta.dirname, '../../dist');
const target = join(dist, 'bundle');

/** Lets a module find the files beside it: they stay where the compiler has put it. */
const originalPlaces: Plugin = {
  name: 'original-places',
  transform(code, id) {
    const places: Readonly<Record<string, string>> = {
      url: `new URL(${JSON.stringify(relative(target, id))}, import.meta.url).href`,
      filename: `(import.meta.dirname + ${JSON.stringify(`/${relative(target, id)}`)})`,
      dirname: `(import.meta.dirname + ${JSON.stringify(`/${relative(target, dirname(id))}`)})`,
    };
    return code.replaceAll(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name: string) => {
      return places[name] ?? '';
    });
  },
};

rmSync(target, { recursive: true, force: true });
const bundle = await rolldown({
  input: join(dist, 'cmd/opm.js'),
  platform: 'node',
  // Packages stay where npm installs them.
  external: /^[^./]/,
  plugins: [originalPlaces],
});
await bundle.write({ dir: target, format: 'esm' });
