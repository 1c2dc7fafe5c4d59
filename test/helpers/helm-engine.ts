import { placeHelmEngine } from '../../deploy/helm-engine/place-engine.ts';

/** Global set-up of tests: what class core-rukpak-io-helm runs is built, once for a user. */
export async function setup(): Promise<void> {
  const { signal } = new AbortController();
  await placeHelmEngine({
    onProgress: (line) => process.stderr.write(`helm engine: ${line}\n`),
    signal,
  });
}
