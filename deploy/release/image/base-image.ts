import { z } from 'zod';
import { type ImagePlace, parseImageReference } from '../../../core/registry/index.ts';
import { type Descriptor, type ImageLayer, mediaTypes } from './layout.ts';
import type { Architecture } from './pins.ts';
import { type ReleaseRegistries, releaseRegistries } from './registry.ts';

/** An image on which Node and the product are added. */
export interface BaseImage {
  /** With the digest of its index or manifest. */
  readonly reference: string;
  layers(architecture: Architecture): Promise<readonly ImageLayer[]>;
}

const descriptorSchema = z.object({
  mediaType: z.string(),
  digest: z.string(),
  size: z.int().nonnegative(),
});
const imageSchema = z.object({ config: descriptorSchema, layers: z.array(descriptorSchema) });
const indexSchema = z.object({
  manifests: z.array(
    descriptorSchema.extend({
      platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
    }),
  ),
});
const configSchema = z.object({ rootfs: z.object({ diff_ids: z.array(z.string()) }) });

/** OCI's names for Docker's media types. */
const ociTypes: Readonly<Record<string, string>> = {
  'application/vnd.docker.image.rootfs.diff.tar.gzip': mediaTypes.layer,
  'application/vnd.docker.image.rootfs.diff.tar': 'application/vnd.oci.image.layer.v1.tar',
};

/**
 * A base image from a registry. It must contain the C and C++ libraries that Node is linked to.
 * @throws Error when the registry does not have the image
 */
export async function baseImage(
  text: string,
  registries: ReleaseRegistries,
  signal: AbortSignal,
): Promise<BaseImage> {
  const reference = parseImageReference(text);
  const access = await releaseRegistries(registries);
  const opened = await access.open({ kind: 'registry', reference }, signal);
  const client = opened.place;
  const { bytes, digest } = opened.manifest;
  const manifest: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  return {
    reference: `${reference.domain}/${reference.path}@${digest}`,
    layers: async (architecture) => {
      const image = await imageOf(client, manifest, { architecture, signal });
      const config = await download(client, image.config, signal);
      const { rootfs } = configSchema.parse(JSON.parse(config.toString('utf8')));
      const layers: ImageLayer[] = [];
      for (const [index, descriptor] of image.layers.entries()) {
        const { mediaType } = descriptor;
        const diffId = rootfs.diff_ids[index];
        if (diffId === undefined) throw new Error(`${text} has more layers than its config names`);
        layers.push({
          bytes: await download(client, descriptor, signal),
          mediaType: ociTypes[mediaType] ?? mediaType,
          diffId,
          madeBy: `layer ${index + 1} of ${text}`,
        });
      }
      return layers;
    },
  };
}

async function imageOf(
  client: ImagePlace,
  manifest: unknown,
  { architecture, signal }: { readonly architecture: Architecture; readonly signal: AbortSignal },
): Promise<z.infer<typeof imageSchema>> {
  const index = indexSchema.safeParse(manifest);
  if (!index.success) return imageSchema.parse(manifest);
  const found = index.data.manifests.find(
    ({ platform }) => platform?.os === 'linux' && platform.architecture === architecture,
  );
  if (found === undefined) throw new Error(`the base image has none for linux/${architecture}`);
  const { bytes } = await client.manifest(found.digest, signal);
  return imageSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
}

async function download(
  client: ImagePlace,
  descriptor: Descriptor,
  signal: AbortSignal,
): Promise<Buffer> {
  const blob = client.blob(descriptor, signal);
  const chunks: Uint8Array[] = [];
  for await (const chunk of blob) chunks.push(chunk);
  await blob.verify();
  return Buffer.concat(chunks);
}
