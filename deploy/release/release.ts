import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { errorMessage } from '../../core/errors.ts';
import { checkReplaceable } from './checksums.ts';
import { makeRelease } from './make-release.ts';
import { projectRoot } from './product.ts';

interface Flags {
  readonly output: string;
  readonly push?: string;
  readonly base?: string;
  readonly debianMirror?: string;
  readonly downloadUrl?: string;
  readonly insecureRegistry: readonly string[];
}

const say = (line: string) => process.stderr.write(`${line}\n`);
// npm changes to the project's folder; relative paths belong to the user's folder.
const fromUser = (path: string) => resolve(process.env['INIT_CWD'] ?? process.cwd(), path);

/** `npm run release`: replaces the former release when the new one is complete. */
async function release(flags: Flags, signal: AbortSignal): Promise<void> {
  const output = fromUser(flags.output);
  await checkReplaceable(output);
  await mkdir(dirname(output), { recursive: true });
  const folder = await mkdtemp(`${output}.`);
  const work = await mkdtemp(join(tmpdir(), 'rukpak-release-'));
  try {
    await chmod(folder, 0o755);
    const image = await makeRelease({
      ...flags,
      debianMirror: flags.debianMirror ?? process.env['DEBIAN_MIRROR'],
      insecureRegistries: flags.insecureRegistry,
      folder,
      work,
      onProgress: say,
      signal,
    });
    await checkReplaceable(output);
    await rm(output, { recursive: true, force: true });
    await rename(folder, output);
    say(`${output} has the release; its pods run ${image}`);
    if (flags.push === undefined) {
      say('nothing is pushed: nodes find that image only after --push REGISTRY/REPOSITORY');
    }
  } finally {
    await rm(work, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => interruption.abort(new Error(`interrupted by ${name}`)));
}
const program = new Command('release')
  .description(
    'Make everything that a release has. Needs git, npm, Go and kubectl; no container engine',
  )
  .option(
    '--output <folder>',
    'output folder; replaced as a whole, unless it has other files',
    join(projectRoot, 'release'),
  )
  .option(
    '--push <reference>',
    'push the image, as in registry.example/team/rukpak[:tag], and have all manifests name it (tag: the version)',
  )
  .option('--base <reference>', 'image to build on, in place of the pinned Debian packages')
  .option(
    '--debian-mirror <url>',
    'mirror of the Debian packages; also DEBIAN_MIRROR (default: deb.debian.org, then snapshot.debian.org)',
  )
  .option('--download-url <url>', 'URL of the published files, for the krew manifest')
  .option(
    '--insecure-registry <host[:port]>',
    'registry to use over HTTP; repeatable',
    (value: string, before: readonly string[]) => [...before, value],
    [],
  )
  .action((flags: Flags) => release(flags, interruption.signal));
try {
  await program.parseAsync();
} catch (error) {
  say(`error: ${errorMessage(error)}`);
  process.exitCode = 1;
}
