import React, { useState } from "react";

interface Props {
  title: string;
  onClose: () => void;
}

const COLORS = ["red", "green"];

/** A panel that can be folded. */
export const Panel: React.FC<Props> = ({ title, onClose }) => {
  const [open, setOpen] = useState(true);
  return (
    <section className="panel">
      <h2 onClick={() => setOpen(!open)}>{title}</h2>
      {open && <button onClick={onClose}>close</button>}
    </section>
  );
};

export const Row = React.memo(function Row(props: { value: number }) {
  const color = COLORS[props.value % COLORS.length];
  return <div style={{ color }}>{props.value}</div>;
});

export function useToggle(initial = false): [boolean, () => void] {
  const [on, setOn] = useState(initial);
  return [on, () => setOn(!on)];
}

export default class Board extends React.Component<Props> {
  state = { count: 0 };

  handleClick = () => {
    this.setState({ count: this.state.count + 1 });
  };

  render() {
    return <Panel title={this.props.title} onClose={this.handleClick} />;
  }
}
