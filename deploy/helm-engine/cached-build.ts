import { access, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { goBuild, type Progress, userCache, withLock } from '../go-build/index.ts';
import { withChanges } from './changed-module.ts';
import { engineWorkspace, goModule, sourceHash, versionFlag } from './go-module.ts';
import { inOrder } from './in-order.ts';

export interface HelmBuildOptions {
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
  /** PATH, XDG_CACHE_HOME, HOME and Go's own (default: the process's). */
  readonly env?: NodeJS.ProcessEnv;
}

type GoBuild = Parameters<typeof goBuild>[0];

interface BuildTarget {
  /** Name of the file. */
  readonly name: string;
  readonly title: string;
  /** Source files of the module (default: all). */
  readonly sources?: readonly string[];
  build(common: Omit<GoBuild, 'cwd' | 'package'>): Promise<void>;
}

const engine: BuildTarget = {
  name: 'helm-engine.wasm',
  title: "Helm's engine",
  build: (common) =>
    withChanges(inOrder, { ...common, folder: dirname(common.target) }, (module) =>
      goBuild({
        ...common,
        cwd: module,
        workspace: join(module, engineWorkspace),
        package: '.',
        // A library that stays alive between calls.
        flags: ['-buildmode=c-shared'],
        env: { ...common.env, GOOS: 'wasip1', GOARCH: 'wasm' },
      }),
    ),
};

const command: BuildTarget = {
  name: 'helm',
  title: "Helm's command",
  sources: ['go.mod', 'go.sum'],
  build: (common) => goBuild({ ...common, cwd: goModule, package: 'helm.sh/helm/v4/cmd/helm' }),
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
    const { title } = target;
    const linkerFlags = await versionFlag();
    await target.build({ title, target: file, linkerFlags, env, onProgress, signal });
  });
  return file;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
