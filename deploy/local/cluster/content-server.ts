import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { type Layout, layoutOf } from './layout.ts';
import { readState } from './state.ts';

/** A kubeconfig: its files, and the URL of the API server that was chosen in them. */
export interface ChosenCluster {
  readonly files: readonly string[];
  readonly server: string;
}

/** How the content server of a `rukpak all` on a control plane of this machine is reached. */
export interface LocalContentServer {
  readonly url: string;
  /** File of the authority that has signed its certificate. */
  readonly caFile: string;
}

/** A certificate for the loopback address, and its key. */
export interface ServingFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const recordSchema = z.object({ url: z.url({ protocol: /^https$/ }) });

/**
 * The control plane on this machine that a kubeconfig is of; undefined for any other cluster. It is
 * known by its record beside the kubeconfig, which has to be of the same owner: in a folder that many
 * write to, nobody else says where credentials go.
 */
export async function localControlPlane({
  files,
  server,
}: ChosenCluster): Promise<Layout | undefined> {
  for (const file of files) {
    const layout = layoutOf(dirname(resolve(file)));
    if (!(await haveOneOwner(file, layout.state))) continue;
    // Another program's file of that name is none of ours.
    const state = await readState(layout).catch(() => undefined);
    if (state?.server === server) return layout;
  }
  return undefined;
}

/** The certificate that was made for it; undefined where the control plane is older than that. */
export async function contentServerCertificate({ pki }: Layout): Promise<ServingFiles | undefined> {
  const certFile = join(pki, 'contentServer.crt');
  const isThere = (await ownerOf(certFile)) !== undefined;
  return isThere ? { certFile, keyFile: join(pki, 'contentServer.key') } : undefined;
}

/** Tells those who use the control plane where the content server is; replaces what was told before. */
export async function announceContentServer(layout: Layout, url: string): Promise<void> {
  const temporary = `${layout.contentServer}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(recordSchema.parse({ url }))}\n`, { mode: 0o600 });
  await rename(temporary, layout.contentServer);
}

/** What was announced last; undefined where nothing was. */
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

/** Undefined where there is no such file. */
async function ownerOf(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.uid;
}
