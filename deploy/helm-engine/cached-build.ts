import { access, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { goBuild, type Progress, userCache, withLock } from '../go-build/index.ts';
import { goModule, sourceHash, versionFlag } from './go-module.ts';

export interface HelmBuildOptions {
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
  /** PATH, XDG_CACHE_HOME, HOME and Go's own (default: the process's). */
  readonly env?: NodeJS.ProcessEnv;
}

/** The package of the module to build, and its options. */
interface BuildTarget {
  /** Name of the file. */
  readonly name: string;
  readonly title: string;
  readonly package: string;
  /** Source files of the module (default: all). */
  readonly sources?: readonly string[];
  readonly flags?: readonly string[];
  readonly workspace?: string;
  /** Environment variables for Go. */
  readonly variables?: Readonly<Record<string, string>>;
}

const engine: BuildTarget = {
  name: 'helm-engine.wasm',
  title: "Helm's engine",
  package: '.',
  // A library that stays alive between calls.
  flags: ['-buildmode=c-shared'],
  workspace: join(goModule, 'engine.work'),
  variables: { GOOS: 'wasip1', GOARCH: 'wasm' },
};

const command: BuildTarget = {
  name: 'helm',
  title: "Helm's command",
  package: 'helm.sh/helm/v4/cmd/helm',
  sources: ['go.mod', 'go.sum'],
};

/** The engine, in the user's cache folder. */
export function buildHelmEngine(options: HelmBuildOptions): Promise<string> {
  return cachedBuild(engine, options);
}

/** Helm's own command of the same version, for comparisons; in the user's cache folder. */
export function buildHelmCommand(options: HelmBuildOptions): Promise<string> {
  return cachedBuild(command, options);
}

async function cachedBuild(target: BuildTarget, options: HelmBuildOptions): Promise<string> {
  const { env = process.env, onProgress, signal } = options;
  const file = join(userCache(env), 'helm', await sourceHash(env, target.sources), target.name);
  if (await exists(file)) return file;
  await mkdir(dirname(file), { recursive: true });
  const purpose = `building ${target.title}`;
  await withLock(`${file}.lock`, { purpose, onProgress, signal }, async () => {
    // Another process may have built it while this one waited.
    if (await exists(file)) return;
    const { name: _name, sources: _sources, variables = {}, ...what } = target;
    await goBuild({
      ...what,
      cwd: goModule,
      target: file,
      linkerFlags: await versionFlag(),
      env: { ...env, ...variables },
      onProgress,
      signal,
    });
  });
  return file;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
