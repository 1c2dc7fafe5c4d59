/** A directory or tar that carries images. */
export interface CarriedPlace {
  readonly kind: 'layout' | 'archive';
  readonly path: string;
}

export function carriedPlace(path: string): CarriedPlace {
  return { kind: path.endsWith('.tar') ? 'archive' : 'layout', path };
}

/** Whether a target is a directory or tar, not a registry. */
export function isCarriedPlace(target: string): boolean {
  return /^[./~]/.test(target) || target.endsWith('.tar');
}
