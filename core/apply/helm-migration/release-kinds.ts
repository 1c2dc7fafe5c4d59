import { setImmediate as othersTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';
import { parseJson } from '../../../api/json.ts';
import { parseObjects } from '../../manifests/index.ts';
import { gvkOf } from '../../platform/kube/index.ts';
import type { GroupKind } from '../objects/group-kind.ts';

/** Helm's limit is the Secret's, 1 MiB of gzip; text that unpacks to more is no release. */
const maxReleaseBytes = 64 * 1024 * 1024;
/** Documents that have to be read as a whole, together; RukPak wrote none. */
const maxReadCharacters = 256 * 1024;
/** The names of the kinds must fit into one annotation. */
const maxKinds = 500;

const unzip = promisify(gunzip);
const releaseSchema = z.object({ manifest: z.string() });

/**
 * The kinds of the objects in a Helm release, as a Secret's `data.release` has it: base64 of base64
 * of gzip of JSON.
 * @throws Error that says what is wrong with it, and nothing of what is in it: a Secret's content.
 */
export async function releaseKinds(release: string): Promise<readonly GroupKind[]> {
  const packed = Buffer.from(Buffer.from(release, 'base64').toString('latin1'), 'base64');
  const text = await unzip(packed, { maxOutputLength: maxReleaseBytes }).catch(() => undefined);
  if (text === undefined) {
    throw new Error(`it is not gzip of at most ${maxReleaseBytes} bytes`);
  }
  return await kindsOf(manifestOf(text.toString('utf8')));
}

function manifestOf(release: string): string {
  try {
    return releaseSchema.parse(parseJson(release)).manifest;
  } catch {
    throw new Error('it is not JSON with a manifest');
  }
}

async function kindsOf(manifest: string): Promise<readonly GroupKind[]> {
  const kinds = new Map<string, GroupKind>();
  let read = 0;
  for (const document of manifest.split(/^---.*$/m)) {
    const known = blockKind(document);
    if (known === undefined) {
      read += document.length;
      if (read > maxReadCharacters) {
        throw new Error(
          `its manifest has more than ${maxReadCharacters} characters in other styles than RukPak's`,
        );
      }
      await othersTurn();
    }
    for (const { group, kind } of known ?? kindsOfDocument(document)) {
      if (!/^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind) || group.length > 253) continue;
      kinds.set(`${kind}.${group}`, { group, kind });
    }
    if (kinds.size > maxKinds) throw new Error(`it has more than ${maxKinds} kinds`);
  }
  return [...kinds.values()];
}

/** Reading a whole document takes long; RukPak wrote them in block style, where two lines tell. */
function blockKind(document: string): readonly GroupKind[] | undefined {
  const apiVersion = /^apiVersion: ["']?([^\s"']+)["']?$/m.exec(document)?.[1];
  const kind = /^kind: ["']?([^\s"']+)["']?$/m.exec(document)?.[1];
  if (apiVersion === undefined || kind === undefined) return undefined;
  return [gvkOf({ apiVersion, kind })];
}

function kindsOfDocument(document: string): readonly GroupKind[] {
  try {
    return parseObjects(Buffer.from(document)).map(gvkOf);
  } catch {
    throw new Error('its manifest holds what is no object');
  }
}
