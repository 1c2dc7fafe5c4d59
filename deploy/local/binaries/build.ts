import { goBuild, type Progress } from '../../go-build/index.ts';
import type { BinaryName } from './catalogue.ts';
import { BINARIES } from './catalogue.ts';
import { moduleDir, pinnedVersion } from './modules.ts';

export interface BuildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Follows the name in progress lines, such as `(1 of 6)`. */
  readonly position: string;
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
}

async function linkerFlags(name: BinaryName): Promise<string> {
  if (BINARIES[name].versionOf !== 'k8s.io/kubernetes') return '';
  // The API server needs its version at build time: clients and its storage use it.
  const [major, minor, patch] = await pinnedVersion(name);
  const variables = {
    gitVersion: `v${major}.${minor}.${patch}`,
    gitMajor: String(major),
    gitMinor: String(minor),
  };
  const set = Object.entries(variables).map(
    ([variable, value]) => `-X k8s.io/component-base/version.${variable}=${value}`,
  );
  return set.join(' ');
}

/** Builds the pinned version with Go; `target` appears complete, or not at all. */
export async function buildBinary(
  name: BinaryName,
  target: string,
  { position, ...options }: BuildOptions,
): Promise<void> {
  const spec = BINARIES[name];
  await goBuild({
    ...options,
    title: `${name} ${position}`,
    package: spec.package,
    target,
    cwd: moduleDir(spec.module),
    linkerFlags: await linkerFlags(name),
  });
}
