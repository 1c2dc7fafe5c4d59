export interface CatalogDockerfile {
  /** Base image, whose opm serves the catalog; `scratch` for an image without programs. */
  readonly baseImage: string;
  /** Image whose opm fills the cache. */
  readonly builderImage: string;
  /** Folder of the catalog, relative to the Dockerfile. */
  readonly folder: string;
  readonly labels: ReadonlyMap<string, string>;
}

/** Label with the path of the catalog in its image. */
export const configsLabel = 'operators.operatorframework.io.index.configs.v1';

/** A Dockerfile for a catalog image, as `opm generate dockerfile` writes it. */
export function catalogDockerfile(options: CatalogDockerfile): string {
  const { baseImage, builderImage, folder, labels } = options;
  return `# The builder image is expected to contain
# /bin/opm (with serve subcommand)
FROM ${builderImage} as builder

# Copy FBC root into image at /configs and pre-populate serve cache
ADD ${folder} /configs
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM ${baseImage}
${baseImage === 'scratch' ? scratchNote : entrypoint}

COPY --from=builder /configs /configs
COPY --from=builder /tmp/cache /tmp/cache

# Set FBC-specific label for the location of the FBC root directory
# in the image
LABEL ${configsLabel}=/configs
${labelLines(labels)}`;
}

const entrypoint = `# The base image is expected to contain
# /bin/opm (with serve subcommand) and /bin/grpc_health_probe

# Configure the entrypoint and command
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]`;

const scratchNote = `# OLMv0 CatalogSources that use binary-less images must set:
# spec:
#   grpcPodConfig:
#     extractContent:
#       catalogDir: /configs
#       cacheDir: /tmp/cache`;

function labelLines(labels: ReadonlyMap<string, string>): string {
  if (labels.size === 0) return '';
  const sorted = [...labels].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = sorted.map(([key, value]) => `LABEL "${key}"="${value}"\n`);
  return `\n# Set other custom labels\n${lines.join('')}`;
}
