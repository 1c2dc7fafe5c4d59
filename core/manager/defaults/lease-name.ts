import { hashObject } from '../../../api/object-hash.ts';
import type { Provisioner } from '../../contracts/provisioner.ts';

/** Of an object's name. */
const maxLength = 253;

/** The Lease of a process with these classes: processes of other classes do not wait for it. */
export function leaseNameOf(provisioners: readonly Pick<Provisioner, 'className'>[]): string {
  const names = provisioners.map(({ className }) => className).sort();
  const name = `${names.join('.')}.core.rukpak.io`;
  return name.length > maxLength ? `${hashObject(names)}.core.rukpak.io` : name;
}
