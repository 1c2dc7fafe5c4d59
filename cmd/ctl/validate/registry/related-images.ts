import { fieldAt, listOf, stringAt } from '../../../../api/json-fields.ts';
import { error, type Finding } from '../finding.ts';
import { type BundleContent, placeOf } from './bundle-content.ts';

const domain =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\\.)*[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?|\\[[a-fA-F0-9:]+\\]';
const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const reference = new RegExp(
  `^(?:(?:${domain})(?::[0-9]+)?/)?${part}(?:/${part})*(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

/** Images that a mirror for disconnected clusters has to copy. */
export function relatedImageFindings({ csv }: BundleContent): readonly Finding[] {
  if (csv === undefined) return [];
  return listOf(fieldAt(csv.object['spec'], 'relatedImages')).flatMap((entry, index) => {
    const image = stringAt(entry, 'image') ?? '';
    const place = placeOf(csv, 'spec', 'relatedImages', index, 'image');
    if (image === '') {
      const message = `relatedImages[${index}] has an empty image field`;
      return [error({ place, message, fix: 'name the image, or remove the entry' })];
    }
    if (image.length <= 4096 && reference.test(image)) return [];
    const message = `relatedImages[${index}] has an invalid image pullspec "${image}": invalid reference format`;
    return [error({ place, message, fix: 'write it as <registry>/<repository>@sha256:<digest>' })];
  });
}
