import { join } from 'node:path';
import { EnvHttpProxyAgent } from 'undici';
import { hasGo, type Progress } from '../../go-build/index.ts';
import { buildBinary } from './build.ts';
import type { BinaryName } from './catalogue.ts';
import { downloadBinary, UnreachableError } from './download.ts';
import { pinnedVersion } from './modules.ts';
import type { Platform, ReleaseHosts } from './releases.ts';
import { releaseOf } from './releases.ts';

const STALLED_MILLISECONDS = 30_000;
const CONNECT_MILLISECONDS = 5_000;

export interface ObtainOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: Platform;
  readonly hosts: ReleaseHosts;
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Downloads published binaries; returns the others, with the reason, for the compiler. */
async function downloadAll(names: readonly BinaryName[], dir: string, options: ObtainOptions) {
  const { platform, hosts, onProgress, signal } = options;
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: CONNECT_MILLISECONDS },
    bodyTimeout: STALLED_MILLISECONDS,
  });
  const rest: BinaryName[] = [];
  let reason = 'no verified release is published for this system';
  let reachable = true;
  try {
    for (const name of names) {
      const version = await pinnedVersion(name);
      const release = reachable ? releaseOf(name, { version, platform, hosts }) : undefined;
      const target = join(dir, name);
      try {
        const done =
          release !== undefined && (await downloadBinary(release, target, { dispatcher, signal }));
        if (done) onProgress(`downloaded ${name} v${version.join('.')}`);
        else rest.push(name);
      } catch (error) {
        signal.throwIfAborted();
        rest.push(name);
        reason = messageOf(error);
        // Without internet access each further attempt would take five seconds again.
        reachable = !(error instanceof UnreachableError);
        onProgress(`no download of ${name}: ${reason}`);
      }
    }
  } finally {
    await dispatcher.destroy();
  }
  return { rest, reason };
}

/** Puts the named binaries into the folder: downloaded if possible, otherwise built with Go. */
export async function obtainBinaries(
  names: readonly BinaryName[],
  dir: string,
  options: ObtainOptions,
): Promise<void> {
  const { rest, reason } = await downloadAll(names, dir, options);
  const { env, onProgress, signal } = options;
  if (rest.length > 0 && !(await hasGo(env))) {
    throw new Error(
      `${rest.join(', ')} cannot be had: no download (${reason}), and no go command to build with. ` +
        'Install Go from https://go.dev/dl, or put the binaries into a folder and name it in ' +
        'KUBEBUILDER_ASSETS.',
    );
  }
  for (const [index, name] of rest.entries()) {
    const position = `(${index + 1} of ${rest.length})`;
    await buildBinary(name, join(dir, name), { env, position, onProgress, signal });
  }
}
