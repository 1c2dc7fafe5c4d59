import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import type { OlmPackage } from './blob.ts';
import { iconMediaType } from './icon-type.ts';

export interface NewPackage {
  readonly name: string;
  readonly defaultChannel: string;
  readonly description: string;
  /** The bytes of an image. */
  readonly icon?: Uint8Array;
}

/** @throws TerminalError in opm's words for an icon that is not an image. */
export function newPackage({ name, defaultChannel, description, icon }: NewPackage): OlmPackage {
  const blob = {
    schema: 'olm.package',
    name,
    defaultChannel,
    description,
    properties: [],
  } as const;
  if (icon === undefined) return blob;
  if (icon.byteLength === 0) throw new TerminalError('detect icon mediatype: Empty buffer');
  const mediatype = iconMediaType(icon);
  if (!mediatype.startsWith('image/')) {
    throw new TerminalError(`detected invalid type ${goQuote(mediatype)}: not an image`);
  }
  return { ...blob, icon: { base64data: Buffer.from(icon).toString('base64'), mediatype } };
}
