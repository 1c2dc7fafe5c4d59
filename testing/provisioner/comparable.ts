import type { BundleFiles } from '../../core/sdk.ts';
import { contentTexts } from '../content-texts.ts';
import { givesContent, type HandlerName } from './given.ts';

/** A result in a form whose differences can be read. */
export function comparable(handler: HandlerName, result: unknown): unknown {
  if (!givesContent(handler)) return result;
  const content = result as BundleFiles;
  return { files: contentTexts(content), directories: [...content.directories].toSorted(inOrder) };
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
