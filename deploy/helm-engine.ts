import { placeHelmEngine } from './helm-engine/place-engine.ts';

/**
 * `npm run helm-engine`: builds the engine with which class core-rukpak-io-helm renders charts.
 * Needs Go.
 */
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => interruption.abort(new Error(`interrupted by ${name}`)));
}
const say = (line: string) => process.stderr.write(`${line}\n`);
try {
  await placeHelmEngine({ onProgress: say, signal: interruption.signal });
  say("Helm's engine is in place: charts can be rendered");
} catch (error) {
  say(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
