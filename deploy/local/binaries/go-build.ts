import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Progress } from './progress.ts';
import { type RunGoOptions, runGo } from './run-go.ts';

const REPORT_MILLISECONDS = 15_000;

export interface GoBuildOptions extends RunGoOptions {
  /** Name of the build for progress lines. */
  readonly title: string;
  readonly package: string;
  readonly target: string;
  /** Added to `-s -w`. */
  readonly linkerFlags?: string;
  readonly flags?: readonly string[];
  readonly onProgress: Progress;
}

/** Builds with Go, with the same options everywhere; `target` appears complete, or not at all. */
export async function goBuild(options: GoBuildOptions): Promise<void> {
  const { title, target, linkerFlags = '', flags = [], onProgress, signal } = options;
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.build`);
  const reproducible = ['-mod=readonly', '-trimpath', '-buildvcs=false'];
  const linker = ['-ldflags', `-s -w ${linkerFlags}`.trim()];
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  onProgress(`building ${title}; this can take minutes and is done once`);
  const report = setInterval(
    () => onProgress(`building ${title}, ${seconds()} s`),
    REPORT_MILLISECONDS,
  );
  try {
    const args = [...reproducible, ...linker, ...flags, '-o', temporary, options.package];
    await runGo(['build', ...args], options);
    await rename(temporary, target);
    onProgress(`built ${title} in ${seconds()} s`);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`go cannot build ${title}: ${reason}`, { cause: error });
  } finally {
    clearInterval(report);
    await rm(temporary, { force: true });
  }
}
