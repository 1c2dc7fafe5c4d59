import type { BundleRecord } from '../../operators/extensions/deployment/bundle-record.ts';
import type { Installation } from '../../operators/extensions/deployment/installation.ts';

/** Bundle `painter.v<version>` of catalog `colours`. */
export function aBundleRecord(version: string, fields: Partial<BundleRecord> = {}): BundleRecord {
  const name = `painter.v${version}`;
  const image = `example.com/painter:${version}`;
  const record = { package: 'painter', name, version, image, catalog: 'colours', className: 'c' };
  return { ...record, ...fields };
}

/** An extension that has the bundle installed. */
export function having(installed: BundleRecord): Installation {
  return { deployment: undefined, record: undefined, installed, conflict: undefined };
}
