import type { BundleFiles } from '../core/sdk.ts';

/** Content as it reads best in a difference: text where it is text, base64 where it is not. */
export function contentTexts({ files }: BundleFiles): Readonly<Record<string, string>> {
  return Object.fromEntries([...files].map(([path, content]) => [path, textOf(content)]));
}

function textOf(content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return `base64:${Buffer.from(content).toString('base64')}`;
  }
}
