import { readFileSync } from 'node:fs';

/** The version in the nearest package.json: sources are run in place or from dist/. */
export function version(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const text = readFileSync(new URL(place, import.meta.url), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // Not here: one folder up.
    }
  }
  return 'unknown';
}
