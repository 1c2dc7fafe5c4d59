import { stringifyJson } from '../../../api/json.ts';
import type { ContentLimits } from '../../../core/contracts/bundle-files.ts';
import { errorMessage } from '../../../core/errors.ts';
import { loadDirectory } from './load-content.ts';
import { type RenderContentOptions, renderContent } from './render-content.ts';

export interface RenderLineOptions extends RenderContentOptions {
  readonly limits: ContentLimits;
}

/** One bundle of `render --stdin` as its line of JSON, newline included. Never throws. */
export async function renderLine(directory: string, options: RenderLineOptions): Promise<string> {
  try {
    const objects = await renderContent(loadDirectory(directory, options.limits), options);
    return `${stringifyJson({ bundle: bundleLabel(directory), ok: true, error: '', objects })}\n`;
  } catch (error) {
    return failureLine(directory, errorMessage(error));
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
