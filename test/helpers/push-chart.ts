import { anArchive } from './archives.ts';
import { type PushTarget, pushBlob, pushManifest } from './push-image.ts';

export interface ChartContent extends PushTarget {
  /** By path, in the folder that the chart's archive has. */
  readonly files: Readonly<Record<string, string>>;
  /** The content of a signed chart's provenance file. */
  readonly provenance?: string;
}

const chartType = 'application/vnd.cncf.helm';

/** Pushes a chart as `helm push` does; gives back its manifest's digest. */
export async function pushChart(chart: ChartContent): Promise<string> {
  const { files, provenance } = chart;
  const blobs = [
    { bytes: await anArchive(files), mediaType: `${chartType}.chart.content.v1.tar+gzip` },
    ...(provenance === undefined
      ? []
      : [{ bytes: Buffer.from(provenance), mediaType: `${chartType}.chart.provenance.v1.prov` }]),
  ];
  const { digest } = await pushManifest(chart, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: await pushBlob(chart, {
      bytes: Buffer.from('{"name":"web","version":"1.0.0"}'),
      mediaType: `${chartType}.config.v1+json`,
    }),
    // Helm's own order is that of digests: the content need not be first.
    layers: (await Promise.all(blobs.map((blob) => pushBlob(chart, blob)))).toReversed(),
  });
  return digest;
}
