import { fieldAt, listOf, stringAt } from '../../../../api/json-fields.ts';
import type { LocatedObject } from '../manifest-objects.ts';

/** One version of a CRD. */
export interface CrdVersion {
  readonly crd: LocatedObject;
  readonly groupKind: string;
  /** `group/version, Kind=kind` */
  readonly gvk: string;
}

/** As tools for catalogs print a group, version and kind. */
export function gvkText(group = '', version = '', kind = ''): string {
  return `${group === '' ? '' : `${group}/`}${version}, Kind=${kind}`;
}

/** Group of an entry of spec.customresourcedefinitions. A field `group`, which some write, is not heeded. */
export function groupOf(entry: unknown): string {
  const name = stringAt(entry, 'name') ?? '';
  return name.slice(name.indexOf('.') + 1);
}

export function crdVersions(crd: LocatedObject): readonly CrdVersion[] {
  const spec = crd.object['spec'];
  const group = stringAt(spec, 'group');
  const kind = stringAt(spec, 'names', 'kind');
  const listed = listOf(fieldAt(spec, 'versions')).map(
    (version) => stringAt(version, 'name') ?? '',
  );
  // Definitions of apiextensions.k8s.io/v1beta1 may name a single one.
  const versions = listed.length > 0 ? listed : [stringAt(spec, 'version') ?? ''];
  return versions.map((version) => ({
    crd,
    groupKind: gvkText(group, '', kind),
    gvk: gvkText(group, version, kind),
  }));
}
