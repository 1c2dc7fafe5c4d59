import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { type Layout, layoutOf } from '../layout.ts';
import { readState } from '../state.ts';

/** A kubeconfig: its files, and the URL of the selected API server. */
export interface ChosenCluster {
  readonly files: readonly string[];
  readonly server: string;
}

/** Address and CA of the content server of `rukpak all` on a control plane of this machine. */
export interface LocalContentServer {
  readonly url: string;
  /** File of the CA of its certificate. */
  readonly caFile: string;
}

/** A certificate for the loopback address, and its key. */
export interface ServingFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const recordSchema = z.object({ url: z.url({ protocol: /^https$/ }) });

/**
 * The control plane on this machine that a kubeconfig belongs to; undefined for any other cluster.
 * It is recognized by its record beside the kubeconfig, which must have the same owner: in a folder
 * that others can write to, nobody else may decide where credentials are sent.
 */
export async function localControlPlane({
  files,
  server,
}: ChosenCluster): Promise<Layout | undefined> {
  for (const file of files) {
    const layout = layoutOf(dirname(resolve(file)));
    if (!(await haveOneOwner(file, layout.state))) continue;
    // Another program may have a file of that name.
    const state = await readState(layout).catch(() => undefined);
    if (state?.server === server) return layout;
  }
  return undefined;
}

/**
 * The certificate of its content server; undefined when the control plane is older than that
 * feature.
 */
export async function contentServerCertificate({ pki }: Layout): Promise<ServingFiles | undefined> {
  const certFile = join(pki, 'contentServer.crt');
  const isThere = (await ownerOf(certFile)) !== undefined;
  return isThere ? { certFile, keyFile: join(pki, 'contentServer.key') } : undefined;
}

/** Writes the content server's URL for users of the control plane; replaces an earlier one. */
export async function announceContentServer(layout: Layout, url: string): Promise<void> {
  const temporary = `${layout.contentServer}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(recordSchema.parse({ url }))}\n`, { mode: 0o600 });
  await rename(temporary, layout.contentServer);
}

/** Deletes the announcement of a URL, or restores an earlier one, unless another has replaced it. */
export async function withdrawContentServer(
  layout: Layout,
  url: string,
  earlier?: string,
): Promise<void> {
  if ((await announcedContentServer(layout))?.url !== url) return;
  if (earlier === undefined) await rm(layout.contentServer, { force: true });
  else await announceContentServer(layout, earlier);
}

/** The last announced URL; undefined without one. */
export async function announcedContentServer(
  layout: Layout,
): Promise<LocalContentServer | undefined> {
  const { contentServer, kubeconfig, pki } = layout;
  if (!(await haveOneOwner(kubeconfig, contentServer))) return undefined;
  const { url } = recordSchema.parse(JSON.parse(await readFile(contentServer, 'utf8')));
  return { url, caFile: join(pki, 'ca.crt') };
}

async function haveOneOwner(one: string, other: string): Promise<boolean> {
  const owner = await ownerOf(one);
  return owner !== undefined && owner === (await ownerOf(other));
}

/** Undefined when the file does not exist. */
async function ownerOf(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.uid;
}
