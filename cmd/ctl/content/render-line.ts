import { stringifyJson } from '../../../api/json.ts';
import type { ContentLimits } from '../../../core/contracts/bundle-files.ts';
import { errorMessage } from '../../../core/errors.ts';
import { installableObjects } from './installable-objects.ts';
import { loadDirectory } from './load-content.ts';
import { withCoreFlags } from './local-limits.ts';
import type { RenderContentOptions } from './render-content.ts';

export interface RenderLineOptions extends RenderContentOptions {
  readonly limits: ContentLimits;
}

/** The output for one bundle of `render --stdin`. */
export interface RenderedLine {
  readonly ok: boolean;
  /** JSON, newline included. */
  readonly line: string;
}

/** The same from a worker thread. */
export interface LineMessage {
  readonly ok: boolean;
  readonly bytes: Uint8Array;
}

/** One bundle of `render --stdin`. Never throws. */
export async function renderLine(
  directory: string,
  options: RenderLineOptions,
): Promise<RenderedLine> {
  try {
    const objects = await installableObjects(loadDirectory(directory, options.limits), options);
    const result = { bundle: bundleLabel(directory), ok: true, error: '', objects };
    return { ok: true, line: `${stringifyJson(result)}\n` };
  } catch (error) {
    return { ok: false, line: failureLine(directory, withCoreFlags(errorMessage(error))) };
  }
}

export function failureLine(directory: string, error: string): string {
  return `${stringifyJson({ bundle: bundleLabel(directory), ok: false, error, objects: [] })}\n`;
}

/** The last two parts of a path: `<package>/<version>` in the usual layout of bundles. */
function bundleLabel(directory: string): string {
  return directory
    .split('/')
    .filter((part) => part !== '')
    .slice(-2)
    .join('/');
}
