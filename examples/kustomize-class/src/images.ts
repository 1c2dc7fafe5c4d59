import { type Fields, isFields } from './fields.ts';
import type { Item } from './item.ts';
import type { Value } from './value.ts';

/** Gives containers, wherever an object has them, the images of field `images`. */
export function setImages(items: readonly Item[], kustomization: Value): void {
  for (const entry of kustomization.get('images').list()) {
    entry.onlyHas('name', 'newName', 'newTag', 'digest');
    const pattern = patternOf(entry.get('name'));
    for (const { object } of items) {
      if (object['kind'] === 'CustomResourceDefinition') continue;
      for (const container of containersIn(object)) {
        const { image } = container;
        const found = typeof image === 'string' ? pattern.exec(image) : null;
        if (found !== null) container['image'] = changed(found, entry);
      }
    }
  }
}

// Kustomize takes the name for a regular expression: its dots stand for any character.
function patternOf(name: Value): RegExp {
  if (!/^[\w./:-]+$/.test(name.text())) throw name.refused('must be the name of an image');
  return new RegExp(`^(${name.text()})(:[\\w.{}-]*)?(@sha256:[\\w.{}-]*)?$`);
}

function changed([, name = '', tag = '', digest = '']: RegExpExecArray, entry: Value): string {
  const text = (field: string) => entry.get(field).optionalText() ?? '';
  const newName = text('newName') || name;
  const newTag = text('newTag');
  const newDigest = text('digest');
  // Either of them replaces both.
  if (newTag === '' && newDigest === '') return `${newName}${tag}${digest}`;
  return [newName, newTag && `:${newTag}`, newDigest && `@${newDigest}`].join('');
}

function* containersIn(value: unknown): Generator<Fields> {
  if (Array.isArray(value)) for (const item of value) yield* containersIn(item);
  if (!isFields(value)) return;
  for (const [name, member] of Object.entries(value)) {
    yield* containersIn(member);
    if (name !== 'containers' && name !== 'initContainers') continue;
    if (Array.isArray(member)) yield* member.filter(isFields);
  }
}
